"""Examples at the end of each command's help, by the name of the command."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "simulate": (
        "cobandit simulate --team partner-aware-ucb --runs 1000",
        "cobandit simulate --means random --arms 3,3 --format json",
    ),
    "compare": ("cobandit compare --team partner-aware-ucb --team naive-ucb --figure teams.svg",),
    "watch": ("cobandit watch --team partner-aware-ucb --seed 3 --out run.html",),
    "play": ('cobandit play --labels "patty,cheese;tomato,lettuce" --rounds 20',),
    "agents": ("cobandit agents", "cobandit agents partner-aware-ucb"),
    "bound": (
        'cobandit bound --means "[[.8,.4],[.2,.6]]" --horizon 2000,1000000',
        "cobandit bound --exact --horizon 4,8",
    ),
    "reproduce": ("cobandit reproduce", "cobandit reproduce sim1-left sim1-right --runs 2000"),
    "sweep": ("cobandit sweep experiment.toml --workers 4",),
    "arena": ("cobandit arena", "cobandit arena --leader steered --follower naive-ucb --runs 200"),
    "report": ("cobandit report out/reproduce",),
    "mdp simulate": ("cobandit mdp simulate --problem burger-line --runs 200",),
    "mdp compare": ("cobandit mdp compare --team partner-aware-ucbvi --team naive-ucbvi --runs 200",),
    "mdp problems": ("cobandit mdp problems",),
    "study new": ("cobandit study new breakfast --from burger",),
    "study check": ("cobandit study check breakfast.toml",),
    "study schema": ("cobandit study schema --out design.schema.json",),
    "study plan": (
        "cobandit study plan breakfast.toml --n 40",
        "cobandit study plan breakfast --set breakfast-plan.toml",
    ),
    "study serve": (
        "cobandit study serve burger casino --demo",
        "cobandit study serve breakfast.toml --host 0.0.0.0 --backup backups",
    ),
    "study simulate": ("cobandit study simulate burger --participants 40 --behaviour softmax",),
    "study analyse": ("cobandit study analyse burger", "cobandit study analyse out/burger"),
    "study fit": (
        "cobandit study fit out/burger",
        "cobandit study fit burger --models softmax,epsilon-greedy --recovery",
    ),
    "study export": ("cobandit study export burger --format parquet",),
    "study verify": ("cobandit study verify burger",),
    "study log": ("cobandit study log --out log.jsonl",),
    "study backup": ("cobandit study backup backups --keep 10",),
    "study restore": ("cobandit study restore backups/studies-20260301T120000Z.sqlite",),
    "study delete-participant": ("cobandit study delete-participant burger p-7k3m9q2x",),
    "study state": ("cobandit study state burger", "cobandit study state burger quota --quota 60"),
    "study list": ("cobandit study list",),
    "study teams": (
        "cobandit study teams burger-pair",
        "cobandit study teams burger-pair --replace p-7k3m9q2x",
        "cobandit study teams burger-pair --end t-4f8k2m9q",
    ),
    "study message": (
        'cobandit study message burger "We continue in ten minutes."',
        'cobandit study message burger-pair "Please choose." --to t-4f8k2m9q',
    ),
    "study services": ("cobandit study services burger", "cobandit study services burger --records records.jsonl"),
    "study power": ("cobandit study power burger --participants 10,20,...,60",),
    "study calibrate": ("cobandit study calibrate burger --simulations 100",),
    "study accounts list": ("cobandit study accounts list",),
    "study accounts add": ("cobandit study accounts add anna --role researcher",),
    "study accounts remove": ("cobandit study accounts remove anna",),
    "study accounts reset": ("cobandit study accounts reset anna",),
    "partner serve": (
        "cobandit partner serve",
        "cobandit partner serve --workers 2 --database postgresql://user@host/partner",
    ),
    "partner keys add": (
        "cobandit partner keys add web-shop --scope admin",
        "cobandit partner keys add game --tenant arcade --rate 50",
    ),
    "partner keys list": ("cobandit partner keys list",),
    "partner keys revoke": ("cobandit partner keys revoke 3f9a0c1b2d4e",),
    "llm check": ("cobandit llm check",),
    "llm demo": ("cobandit llm demo",),
    "llm usage": ("cobandit llm usage",),
    "robot demo": ("cobandit robot demo --configuration 1,0 --out burger.webm",),
    "robot check": (
        "cobandit robot check",
        "cobandit robot check --driver rosbridge --url ws://192.168.1.20:9090",
    ),
}
