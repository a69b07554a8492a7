"""Texts for people."""

from __future__ import annotations

from cobandit.report.kit.text import apa, capital, italic_symbols, with_subscripts, words


def test_subscripts_need_no_formula() -> None:
    assert with_subscripts("$p_1$ = 0.6") == "p₁ = 0.6"
    assert with_subscripts("random means, s_a ~ Unif, p_i = i/N") == "random means, sₐ ~ Unif, pᵢ = i/N"
    assert with_subscripts("my_label, p_12, $5") == "my_label, p_12, $5"
    assert with_subscripts("two\n lines") == "two lines"


def test_an_equals_sign_keeps_its_neighbours() -> None:
    assert words("p_1 = 0.5") == "p₁\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.5"


def test_statistics_are_set_in_the_style_of_the_apa() -> None:
    assert apa("d_z = -0.4, <b>") == (
        "<i>d</i><sub>z</sub>\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}\N{MINUS SIGN}0.4, &lt;b&gt;"
    )
    assert apa("t(5) = 2") == "<i>t</i>(5)\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}2"


def test_symbols_in_italics_leave_the_text_as_it_is() -> None:
    assert italic_symbols("(M = -1, p < .05)") == "(<i>M</i> = -1, <i>p</i> &lt; .05)"
    assert capital("task regret") == "Task regret"
