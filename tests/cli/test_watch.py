"""``cobandit watch``."""


def test_it_writes_the_page_and_says_where(run, tmp_path):
    page = tmp_path / "run.html"
    done = run(
        "watch", "--team", "partner-aware-ucb", "--horizon", "20", "--runs", "3", "--run", "2", "--out", str(page)
    )
    assert done.exit_code == 0
    assert "Run 2 can be watched in" in done.output
    assert "Run 2 of partner-aware-ucb" in page.read_text(encoding="utf-8")


def test_a_run_that_is_not_there_is_refused(run):
    done = run("watch", "--horizon", "20", "--runs", "3", "--run", "3")
    assert done.exit_code == 2
    assert "run must be an integer from 0 to 2, got 3." in done.output
