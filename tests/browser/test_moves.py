"""The queue of unsent choices (moves.js) by itself, in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.site import Site

Run = Callable[[str], Any]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    site = Site(tmp_path_factory.mktemp("moves"))
    yield site.address
    site.close()


@pytest.fixture
def run(new_context: Callable[..., Any], address: str) -> Iterator[Run]:
    """Run the body of a function beside the module; what it returns."""
    page = new_context().new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{address}/static/participant/moves.js")
    yield lambda script: page.evaluate(f"""async () => {{
      const {{ Moves, Sender }} = await import('/static/participant/moves.js');
      const kept = new Map();
      const store = {{
        get: (name) => kept.get(name) ?? null,
        set: (name, value) => kept.set(name, structuredClone(value)),
        remove: (name) => kept.delete(name),
      }};
      const move = (t, episode = 0) => ({{ episode, t, arm: 0, key: `key-${{t}}`, ms: 1 }});
      const times = (moves) => moves.all.map((one) => one.t);
      {script}
    }}""")
    assert complaints == []


def test_kept_moves_that_no_longer_fit_are_dropped(run: Run) -> None:
    script = """
      const given = [];
      for (const [episode, played] of [[0, 3], [0, 5], [0, 2], [0, 9], [1, 0], [null, 0]]) {
        kept.set('m', [4, 5, 6].map((t) => move(t)));
        const moves = new Moves(store, 'm');
        const lost = moves.fit(episode, played);
        given.push([times(moves), lost, times(new Moves(store, 'm'))]);
      }
      return given;
    """
    assert run(script) == [
        [[4, 5, 6], 0, [4, 5, 6]],
        [[6], 0, [6]],
        [[], 3, []],
        [[], 0, []],
        [[], 0, []],
        [[], 0, []],
    ]


def test_spoilt_memory_is_ignored(run: Run) -> None:
    script = """
      const sizes = [];
      for (const spoilt of ['x', {}, [null, 3, { t: 1 }], [move(1), { ...move(2), arm: 'left' }]]) {
        kept.set('m', spoilt);
        sizes.push(new Moves(store, 'm').size);
      }
      return sizes;
    """
    assert run(script) == [0, 0, 0, 1]


def test_one_request_at_a_time_and_all_that_waits_in_the_next(run: Run) -> None:
    script = """
      const moves = new Moves(store, 'm');
      const sent = [];
      const open = [];
      const post = (batch) => new Promise((done) => {
        sent.push(batch.moves.map((one) => one.t));
        open.push(() => done({ played: batch.moves.at(-1).t }));
      });
      let over;
      const end = new Promise((done) => { over = done; });
      const sender = new Sender(moves, post, (reply) => reply.played === 5 && over(), () => {});
      const settle = async () => { open.shift()(); await new Promise((done) => setTimeout(done)); };
      for (let t = 1; t <= 5; t += 1) { moves.add(move(t)); sender.kick(); }
      const saved = new Moves(store, 'm').size;
      await settle();
      await settle();
      await end;
      return [sent, saved, moves.size, kept.size];
    """
    assert run(script) == [[[1], [2, 3, 4, 5]], 5, 0, 0]
