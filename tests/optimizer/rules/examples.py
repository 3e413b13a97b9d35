"""Examples of rules, as text: a query's plan before and after a rule."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cql.catalogue import outline, plan_of
from thalweg.algebra.plan import Plan
from thalweg.optimizer import CHOICES, RULES, rewrite

FILE = Path(__file__).with_name("examples.txt")
NAMED = {rule.name: rule for rule in RULES}


@dataclass(frozen=True)
class Example:
    """The last of `rules` is what the example is about; those before it make the plan ready for it."""

    rules: tuple[str, ...]
    cql: str
    before: str
    after: str | None  # None: the rule does not apply

    @property
    def rule(self) -> str:
        return self.rules[-1]

    @property
    def plan(self) -> Plan:
        return plan_of(self.cql)

    @property
    def made(self) -> Plan | None:
        """What the rule makes of the plan, if it applies; a choice is only asked about the whole plan."""
        plan = self.plan
        for choice in CHOICES:
            if choice.name == self.rule:
                return choice.apply(plan)
        found = rewrite(plan, [NAMED[name] for name in self.rules])
        return found.plan if self.rule in {step.rule.name for step in found.steps} else None

    def __str__(self) -> str:
        after = "stays" if self.after is None else f"after   {self.after}"
        return f"rule    {', '.join(self.rules)}\ncql     {self.cql}\nbefore  {self.before}\n{after}\n"


def examples() -> list[Example]:
    """All examples of the file."""
    return [_read(block.splitlines()) for block in FILE.read_text(encoding="utf-8").strip().split("\n\n")]


def write(found: list[Example]) -> None:
    """Write the file anew, with the plans that the rules produce now."""
    updated = [Example(e.rules, e.cql, outline(e.plan), None if e.made is None else outline(e.made)) for e in found]
    FILE.write_text("\n".join(map(str, updated)), encoding="utf-8")


def _read(lines: list[str]) -> Example:
    fields = {word: rest.strip() for word, _, rest in (line.partition(" ") for line in lines)}
    return Example(tuple(fields["rule"].split(", ")), fields["cql"], fields["before"], fields.get("after"))
