"""``memtree config``: show and change the settings in memtree.toml."""

from __future__ import annotations

from memtree.cli.options import BANK, JSON, Argument, Command, Option, UsageError
from memtree.cli.output import print_json, printable
from memtree.cli.places import folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values
    from memtree.workspace import Workspace


def run(values: Values) -> int:
    """Print the settings, or change one."""
    from memtree import configure
    from memtree.workspace import Workspace

    # Not a bank: a memtree.toml that can't be used may be mended here.
    workspace = Workspace(folder(values))
    name = values.name
    if values.unset:
        if name is None or values.value is not None:
            raise UsageError("--unset takes the name of one setting", "memtree config --unset recall.mode")
        if not configure.unset(workspace, name):
            print(printable(f"{name} was not set"))
            return 0
    elif name == "routing" and values.value is not None:
        if values.pattern is None:
            raise UsageError("a rule has a tag, a pattern and a file, or a tag and a file",
                             "memtree config routing W 'meeting|회의' world/meetings.md")
        pattern, file = ("", values.pattern) if values.file is None else (values.pattern, values.file)
        configure.add_route(workspace, values.value, pattern, file)
    elif values.value is not None:
        if values.pattern is not None:
            raise UsageError(f"{name} takes one value", "memtree help config")
        configure.assign(workspace, name, values.value)
    _show(workspace, name, values.json)
    return 0


def _show(workspace: Workspace, name: str | None, as_json: bool) -> None:
    """Print one setting or all; those of memtree.toml that are not the default are marked."""
    from memtree import config, configure

    settings = config.load(workspace)
    default = config.Settings()
    shown = {one: configure.value_of(settings, one) for one in configure.names() if name in (None, one)}
    if name in (None, "routing"):
        shown["routing"] = [{key: rule[key] for key in ("tag", "pattern", "file") if key in rule}
                            for rule in settings.routing]
    elif name not in shown:
        configure.value_of(settings, name)
    if as_json:
        print_json(shown)
        return
    for rule in shown.pop("routing", ()):
        print(printable("routing = " + " ".join(map(str, rule.values()))))
    for one, value in shown.items():
        text = str(value).lower() if isinstance(value, bool) else value
        mark = "" if value == configure.value_of(default, one) else "  (memtree.toml)"
        print(printable(f"{one} = {text}{mark}"))


COMMAND = Command(
    "memtree config",
    "show the settings, or change one in memtree.toml",
    run,
    [
        Argument("name", "the setting, such as recall.weight_tree; all of them without", optional=True),
        Argument("value", "what it is to be; for routing the tag of a new rule", optional=True),
        Argument("pattern", "of a rule: the words it takes, with | between them", optional=True),
        Argument("file", "of a rule: the file of the bank", optional=True),
    ],
    options=[Option("--unset", help="let the default hold again"), BANK, JSON],
    examples=[
        ("memtree config", "all settings with their values"),
        ("memtree config timezone Asia/Seoul", "set one"),
        ("memtree config routing W 'meeting|회의' world/meetings.md", "add a rule: such items go to that file"),
    ],
    notes="Comments and order of memtree.toml stay. Rules are tried in their order, before the built-in ones.",
)
