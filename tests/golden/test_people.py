"""Models of people by hand: values that fade, and a knowledge gradient that forgets."""

from __future__ import annotations

from cobandit import ForgetfulKnowledgeGradient, KnowledgeGradient, RecencySoftmax, SoftmaxUCB


def test_softmax_over_fading_values(play):
    #  t  values               weights, added up            draw  aim    cell   own  partner  seen
    #  1  .5 .5 .5 .5          1 2 3 4                      .6    2.4    (1,0)   1     0       1
    #  2  .5 .5 .75 .5         .61 1.21 2.21 2.82           .4    1.13   (0,1)   0     1       0
    #  3  .5 .25 .75 .5        .61 .97 1.97 2.58            .3    .77    (0,1)   0
    own = play(
        RecencySoftmax(rate=0.5, temperature=0.5), place=0, partner=[0, 1], seen=[1, 0], draws=[[0.6], [0.4], [0.3]]
    )
    assert own == [1, 0, 0]


def test_softmax_over_own_arms(play):
    # Rate 1: an arm is worth its last reward, .5 at first. Arm 0 gave 0: weights e^(-.5/.1) = .0067 and 1.
    agent = RecencySoftmax(rate=1.0, temperature=0.1, values="own-arms")
    assert play(agent, place=0, partner=[1], seen=[0], draws=[[0.4], [0.01]]) == [0, 1]


def test_forgetting_all_but_the_last_round(play):
    # Without a look at the future (discount 0) it plays the best mean. Nothing ever pays.
    #  t  (0,0) (0,1) (1,0) (1,1)   own, of (row, own)
    #  1   1/2   1/2   1/2   1/2     0
    #  2   1/3   1/2   1/2   1/2     1
    #  3   1/2   1/3   1/2   1/2     0: (0,0) is as good as new again
    #  4   1/3   1/2   1/2   1/2     1, where somebody who remembers (0,0) and (0,1) wants (1,0)
    setting = {"place": 1, "partner": [0, 0, 0], "seen": [0, 0, 0]}
    assert play(ForgetfulKnowledgeGradient(recall=0.0, discount=0.0), **setting) == [0, 1, 0, 1]
    assert play(KnowledgeGradient(discount=0.0), **setting) == [0, 1, 0, 0]


def test_softmax_over_the_index(play):
    # T = 2 and c = .5: scale sqrt(2 * .5 * log 2) = .8326. Untried cells share all probability.
    #  t  index                        draws (lapse, aim)        aim     cell   own  partner  seen
    #  1  inf inf inf inf              .5 >= .2, .6              2.4/4   (1,0)   1     0       0
    #  2  inf inf .83 inf              .5 >= .2, .6              1.8/3   (0,1)   0
    agent = SoftmaxUCB(exploration=0.5, temperature=0.5, lapse=0.2)
    assert play(agent, place=0, partner=[0], seen=[0], draws=[[0.5, 0.6], [0.5, 0.6]]) == [1, 0]
    #  2  a lapse: .1 < .2, then arm int(.9 * 2) = 1
    assert play(agent, place=0, partner=[0], seen=[0], draws=[[0.5, 0.6], [0.1, 0.9]]) == [1, 1]


def test_softmax_over_the_values_of_a_knowledge_gradient(play):
    # Discount 0: values are posterior means, 1/2 each; (0,0) paid nothing and is worth 1/3 afterwards.
    # Weights at temperature .1: e^(-(1/6)/.1) = .189, 1, 1, 1; aim = draw * 3.189.
    agent = ForgetfulKnowledgeGradient(recall=1.0, discount=0.0, temperature=0.1)
    setting = {"place": 0, "partner": [0], "seen": [0]}
    assert play(agent, **setting, draws=[[0.1], [0.05]]) == [0, 0]
    assert play(agent, **setting, draws=[[0.1], [0.4]]) == [0, 1]  # 1.276: past 1.189, so (1,0)
