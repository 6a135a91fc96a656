"""The commands as a user calls them: a process with its output, errors and exit status."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

NOTES = {
    "bank/identity/values.md": (
        "# 가치관\n\n정직이 먼저다. 사람을 속이지 않는다.\n\n## 원칙\n\n"
        "약속한 날짜는 반드시 지킨다. 못 지킬 것 같으면 하루 전에 알린다.\n"
    ),
    "bank/knowledge/backup.md": (
        "# Backup schedule\n\nThe database is dumped every night at two and copied to the cold storage.\n\n"
        "## Restore\n\nRun the restore script, then compare the row counts with the manifest.\n"
    ),
    "bank/world/tools.md": "# 도구\n\n편집기는 Helix를 쓰고 터미널은 WezTerm을 쓴다.\n",
    "bank/experience/2025-03-02-trip.md": "# 부산 여행\n\n해운대에서 이틀을 묵었고 돼지국밥을 먹었다.\n",
    "bank/experience/2026-01-15-trip.md": "# 제주 여행\n\n올레길을 걸었고 귤을 한 상자 샀다.\n",
    "memory/2026-02-01.md": "# 로그\n\n치과 예약을 목요일로 옮겼다.\n",
}
ESCAPE = "\x1b["


@pytest.fixture
def bank(tmp_path):
    """A workspace of a few notes."""
    for name, text in NOTES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def write_old_tree(bank):
    """A tree-index.json in the form of the old script, written by hand."""
    nodes = {
        "values": {"keywords": ["가치관", "원칙"], "files": ["identity/values.md"]},
        "busan": {"keywords": ["부산"], "files": ["experience/2025-03-02-trip.md"]},
    }
    (bank / "bank" / "_meta").mkdir()
    text = json.dumps({"nodes": nodes}, ensure_ascii=False, indent=2)
    (bank / "bank" / "_meta" / "tree-index.json").write_text(text, encoding="utf-8")


def environment(**extra):
    """An environment without what would change the output."""
    unwanted = ("NO_COLOR", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8", "LC_ALL")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "LANG": "C.UTF-8", "PYTHONWARNINGS": "error", **extra}


def call(*arguments, cwd, module="memtree", env=None, **options):
    """Run a command; text in, text out."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env=env or environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=60,
        **options,
    )


def recall_tree(*arguments, cwd):
    code = "from memtree.cli.recall_tree import script; script()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )


class TestRecall:
    def test_the_right_note_comes_first_with_its_place_and_text(self, bank):
        done = call("recall", "가치관이 뭐야?", cwd=bank)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert re.fullmatch(
            r"1\. identity/values\.md  0\.\d{4}  tree [01]\.\d{4}  bm25 0\.\d{4}  matched .*가치관.*",
            lines[0],
        )
        assert re.match(r"   identity/values\.md:\d+(-\d+)?  가치관", lines[1])
        assert "정직이 먼저다." in done.stdout
        assert ESCAPE not in done.stdout

    def test_words_need_no_quotes(self, bank):
        quoted = call("recall", "restore the database", cwd=bank)
        assert quoted.stdout.startswith("1. knowledge/backup.md")
        assert call("recall", "restore", "the", "database", cwd=bank).stdout == quoted.stdout

    def test_json_is_what_the_library_answers(self, bank):
        from memtree import Bank

        done = call("recall", "약속한 날짜", "--json", cwd=bank)
        answer = json.loads(done.stdout)
        assert list(answer) == ["query", "answerable", "coverage", "tier", "generation", "hits"]
        assert list(answer["hits"][0]) == ["path", "score", "tree", "bm25", "terms", "passages"]
        assert list(answer["hits"][0]["passages"][0]) == ["heading_path", "lines", "score", "text"]
        assert answer == json.loads(json.dumps(Bank(str(bank)).recall("약속한 날짜").to_dict()))

    def test_not_knowing_is_said_first_and_is_status_1(self, bank):
        done = call("recall", "여행 보험 증권번호와 만기일", cwd=bank)
        assert done.returncode == 1
        assert re.match(
            r"The bank does not seem to know this \(coverage 0\.\d\d\); nearest notes?:\n\n1\. experience/",
            done.stdout,
        )
        assert (
            json.loads(call("recall", "여행 보험 증권번호와 만기일", "--json", cwd=bank).stdout)["answerable"]
            is False
        )

    @pytest.mark.parametrize("query", ["", "  ", "?!", "양자역학 관측"])
    def test_nothing_found_is_status_1(self, bank, query):
        done = call("recall", query, cwd=bank)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith("Nothing found")

    def test_a_query_without_words_is_explained(self, bank):
        assert "no word" in call("recall", "?!", cwd=bank).stdout

    def test_numbers_of_hits_and_passages(self, bank):
        def hits(*options):
            return json.loads(call("recall", "여행", "--json", *options, cwd=bank).stdout)["hits"]

        assert len(hits()) == 2
        assert len(hits("-k", "1")) == len(hits("-n1")) == len(hits("--limit=1")) == 1
        assert hits("-k", "99") == hits()
        assert hits("-k", "0") == []
        assert [hit["passages"] for hit in hits("--passages", "0")] == [[], []]

    def test_filters(self, bank):
        def paths(*options):
            done = call("recall", "여행", "--json", *options, cwd=bank)
            return sorted(hit["path"] for hit in json.loads(done.stdout)["hits"])

        both = ["experience/2025-03-02-trip.md", "experience/2026-01-15-trip.md"]
        assert paths("--under", "experience") == paths("--under", "experience/") == both
        assert paths("--under", "knowledge") == []
        assert paths("--since", "2026-01-01", "--under", "experience") == both[1:]
        assert paths("--until", "2025-12-31") == both[:1]

    def test_daily_logs_are_searched_when_asked(self, bank):
        assert "memory/" not in call("recall", "치과 예약", cwd=bank).stdout
        assert call("recall", "치과 예약", "--logs", cwd=bank).stdout.startswith("1. memory/2026-02-01.md")

    def test_the_bank_is_found_upward_and_by_option(self, bank, tmp_path_factory):
        expected = call("recall", "가치관", cwd=bank).stdout
        assert call("recall", "가치관", cwd=bank / "bank" / "world").stdout == expected
        elsewhere = tmp_path_factory.mktemp("elsewhere")
        assert call("recall", "가치관", "--bank", str(bank), cwd=elsewhere).stdout == expected

    def test_answers_are_kept_in_the_buffer(self, bank):
        answer = json.loads(call("recall", "가치관", "--json", cwd=bank).stdout)
        (kept,) = (bank / "recall").glob("*.json")
        assert json.loads(kept.read_text(encoding="utf-8"))["hits"] == answer["hits"]

    def test_a_buffer_that_can_not_be_written_is_no_failure(self, bank):
        (bank / "recall").write_text("a file where the folder should be", encoding="utf-8")
        assert call("recall", "가치관", cwd=bank).returncode == 0

    def test_the_prefix_mode_is_the_old_rule(self, bank):
        write_old_tree(bank)
        done = call("recall", "가치관이 뭐야?", "--mode", "prefix", "--json", cwd=bank)
        assert json.loads(done.stdout)["hits"][0]["path"] == "identity/values.md"

    def test_unreadable_files_are_mentioned_and_the_rest_answers(self, bank):
        (bank / "bank" / "broken.md").write_bytes(b"\xff\xfe\x00binary")
        done = call("recall", "가치관", cwd=bank)
        assert done.returncode == 0
        assert done.stdout.startswith("1. identity/values.md")
        assert done.stderr == "memtree: 1 problem with files of the bank: memtree status\n"

    def test_a_long_passage_is_cut_and_says_how_to_see_the_rest(self, bank):
        code = "\n".join(f"step {i} of the migration" for i in range(30))
        (bank / "bank" / "long.md").write_text(f"# Migration\n\n```\n{code}\n```\n", encoding="utf-8")
        shown = call("recall", "migration step", "--passages", "1", cwd=bank).stdout
        more, place = re.search(r"\.\.\. (\d+) more lines: memtree get (\S+)", shown).groups()
        assert int(more) == 32 - 12
        assert call("get", place, cwd=bank).stdout == f"```\n{code}\n```\n"


class TestOutput:
    def test_colours_on_request_only(self, bank):
        assert ESCAPE in call("recall", "가치관", "--color=always", cwd=bank).stdout
        assert ESCAPE not in call("recall", "가치관", "--color", "never", cwd=bank).stdout

    @pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is a POSIX thing")
    @pytest.mark.parametrize(
        ("extra", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
    )
    def test_colours_on_a_terminal_unless_unwanted(self, bank, extra, coloured):
        import pty

        leader, follower = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "memtree", "recall", "가치관"],
            cwd=bank,
            stdout=follower,
            stderr=subprocess.PIPE,
            env=environment(**{"TERM": "xterm", **extra}),
        ) as child:
            os.close(follower)
            seen = b""
            while True:
                try:
                    block = os.read(leader, 65536)
                except OSError:  # Linux: the other end is closed
                    break
                if not block:
                    break
                seen += block
            child.wait(60)
        os.close(leader)
        assert child.returncode == 0
        assert (ESCAPE.encode() in seen) is coloured
        assert "정직이 먼저다".encode() in seen.replace(b"\x1b[32;1m", b"").replace(b"\x1b[0m", b"")

    def test_a_note_can_not_steer_the_terminal(self, bank):
        (bank / "bank" / "evil.md").write_text(
            "# 속임수\n\n제목을 \x1b]0;바꾼다\x07 \x9b31m 붉게\n", encoding="utf-8"
        )
        shown = call("recall", "속임수", "제목", cwd=bank).stdout
        assert "바꾼다" in shown
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)

    def test_a_terminal_without_the_letters_gets_escapes(self, bank):
        env = environment(PYTHONIOENCODING="ascii")
        assert "\\uac00\\uce58\\uad00" in call("recall", "가치관", cwd=bank, env=env).stdout
        answer = json.loads(call("recall", "가치관", "--json", cwd=bank, env=env).stdout)
        assert answer["query"] == "가치관"

    @pytest.mark.skipif(os.name != "posix", reason="SIGPIPE is a POSIX thing")
    def test_a_reader_that_leaves_early_is_no_error(self, bank):
        (bank / "bank" / "big.md").write_text(
            "# Big\n\n" + "a line of a large note\n" * 50_000, encoding="utf-8"
        )
        with subprocess.Popen(
            [sys.executable, "-m", "memtree", "get", "big.md"],
            cwd=bank,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as child:
            child.stdout.readline()
            child.stdout.close()
            assert child.stderr.read() == b""
            child.wait(60)
        assert child.returncode == 141

    def test_an_interrupt_ends_quietly(self, bank):
        code = (
            "import memtree.cli.recall as command\n"
            "def interrupted(values): raise KeyboardInterrupt\n"
            "command.open_bank = interrupted\n"
            "from memtree.cli.main import script; script()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, "recall", "가치관"], cwd=bank, capture_output=True, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


    @pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal is a POSIX thing")
    def test_an_interrupt_under_the_progress_bar_gives_the_cursor_back(self, bank):
        import pty

        code = """
from memtree.bank import Bank
from memtree.cli import main, places

def refresh(self, **options):
    for done in range(3):
        self._progress(done, 9)
    raise KeyboardInterrupt

places.PATIENCE = -1.0
Bank.refresh = refresh
main.script()
"""
        leader, follower = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", code, "index"],
            cwd=bank,
            stdout=follower,
            stderr=follower,
            env=environment(TERM="xterm"),
        ) as child:
            os.close(follower)
            seen = b""
            while True:
                try:
                    block = os.read(leader, 65536)
                except OSError:  # Linux: the other end is closed
                    break
                if not block:
                    break
                seen += block
            child.wait(60)
        os.close(leader)
        assert child.returncode == 130
        assert b"indexing" in seen
        assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")


class TestWrongCalls:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["recal", "x"], "unknown command 'recal'; did you mean recall?"),
            (["--verison"], "unknown option '--verison'; did you mean --version?"),
            (["recall", "x", "--limt", "3"], "unknown option --limt; did you mean --limit?"),
            (["recall", "-x"], "unknown option -x"),
            (["recall"], "QUERY is missing: the question, in plain words of any language"),
            (["recall", "x", "-k"], "-k needs a value: -k N"),
            (["recall", "x", "-k", "many"], "-k must be a whole number, 0 or more, not 'many'"),
            (["recall", "x", "-k", "-1"], "-k must be a whole number, 0 or more, not '-1'"),
            (
                ["recall", "x", "--since", "2026-02-30"],
                "--since must be a date like 2026-01-31, not '2026-02-30'",
            ),
            (
                ["recall", "x", "--mode", "korea"],
                "--mode must be one of korean, prefix, not 'korea'; did you mean korean?",
            ),
            (["recall", "x", "--json=yes"], "--json takes no value"),
            (["get", "world/tools.md", "more"], "one argument too many: 'more'"),
            (["get", "world/tools.md", "--lines", "9-2"], "--lines must be lines from 1 up"),
            (["get", "world/tools.md:0-2"], "world/tools.md:0-2: must be lines from 1 up"),
            (["completion", "bahs"], "SHELL must be one of bash, zsh, fish, not 'bahs'; did you mean bash?"),
            (["help", "recal"], "unknown command 'recal'; did you mean recall?"),
        ],
    )
    def test_one_clear_line_and_how_to_do_it(self, bank, arguments, message):
        done = call(*arguments, cwd=bank)
        assert (done.returncode, done.stdout) == (2, "")
        first, hint = done.stderr.splitlines()
        assert first.startswith(f"memtree: {message}")
        assert hint.startswith("  try: memtree help")

    def test_a_query_may_start_with_a_dash(self, bank):
        assert call("recall", "--", "-가치관", cwd=bank).stdout.startswith("1. identity/values.md")

    def test_an_argument_that_is_no_text(self, bank):
        done = subprocess.run(
            [sys.executable, "-m", "memtree", "recall", b"\xb0\xa1\xc4\xa1"],
            cwd=bank,
            env=environment(),
            capture_output=True,
            timeout=60,
        )
        assert done.returncode == 2
        assert done.stderr.startswith(b"memtree: QUERY is not valid UTF-8")

    def test_a_query_over_all_measure(self, bank):
        done = call("recall", "가" * 40_000, cwd=bank)
        assert done.returncode == 2
        assert "32768" in done.stderr.replace(",", "")

    def test_no_bank(self, tmp_path):
        done = call("recall", "가치관", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--bank" in done.stderr
        done = call("recall", "가치관", "--bank", str(tmp_path / "gone"), cwd=tmp_path)
        assert done.returncode == 2
        assert "gone" in done.stderr

    def test_settings_that_can_not_be_used_are_named_with_their_line(self, bank):
        (bank / "memtree.toml").write_text("# settings\n\n[bm25]\nk1 = [broken\n", encoding="utf-8")
        done = call("recall", "가치관", cwd=bank)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.match(r"\S*memtree\.toml:[45]: ", done.stderr)

    def test_a_tree_file_that_can_not_be_read_is_named_with_its_line(self, bank):
        meta = bank / "bank" / "_meta"
        meta.mkdir()
        broken = '{"version": 1,\n "nodes": {,}\n}\n'
        (meta / "tree-index.json").write_text(broken, encoding="utf-8")
        done = call("index", cwd=bank)
        assert re.search(r"tree-index\.json:2: ", done.stderr)
        assert (meta / "tree-index.json").read_text(encoding="utf-8") == broken


class TestOtherCommands:
    def test_explain_adds_up(self, bank):
        done = call("explain", "약속한 날짜를 지키나?", "identity/values.md", "--json", cwd=bank)
        found = json.loads(done.stdout)
        answer = json.loads(call("recall", "약속한 날짜를 지키나?", "--json", cwd=bank).stdout)
        assert found["score"] == pytest.approx(answer["hits"][0]["score"], abs=1e-6)
        assert sum(part["value"] for part in found["parts"]) == pytest.approx(found["score"], abs=1e-6)
        text = call("explain", "약속한 날짜를 지키나?", "identity/values.md", cwd=bank).stdout
        totals = [float(value) for value in re.findall(r"^  ([+-]\d\.\d{4})  ", text, re.M)]
        assert sum(totals) == pytest.approx(found["score"], abs=2e-4)

    def test_explain_of_a_file_that_does_not_match_is_status_1(self, bank):
        done = call("explain", "가치관", "world/tools.md", cwd=bank)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith("world/tools.md  0.0000")

    @pytest.mark.parametrize("path", ["gone.md", "../memtree.toml", "/etc/passwd", "world"])
    def test_what_is_not_in_the_bank_is_refused(self, bank, path):
        (bank / "memtree.toml").write_text("", encoding="utf-8")
        for done in (call("explain", "가치관", path, cwd=bank), call("get", path, cwd=bank)):
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith(f"{path}: ")

    def test_get(self, bank):
        note = NOTES["bank/identity/values.md"]
        assert call("get", "identity/values.md", cwd=bank).stdout == note
        assert call("get", "identity/values.md:5-7", cwd=bank).stdout == "".join(note.splitlines(True)[4:7])
        assert call("get", "identity/values.md", "--lines", "1", cwd=bank).stdout == "# 가치관\n"
        assert json.loads(call("get", "identity/values.md:1", "--json", cwd=bank).stdout) == {
            "path": "identity/values.md",
            "lines": [1, 1],
            "text": "# 가치관\n",
        }
        assert call("get", "identity/values.md:90-99", cwd=bank).returncode == 1

    def test_index_tells_what_changed(self, bank):
        first = call("index", cwd=bank)
        assert re.fullmatch(r"5 files \(5 new\), \d+ passages, \d+ terms, in \d+\.\d\d s\n", first.stdout)
        assert (first.returncode, first.stderr) == (0, "")
        assert call("index", cwd=bank).stdout.startswith("5 files (no change)")
        (bank / "bank" / "world" / "tools.md").write_text(
            "# 도구\n\n편집기를 Zed로 바꿨다.\n", encoding="utf-8"
        )
        (bank / "bank" / "experience" / "2025-03-02-trip.md").unlink()
        (bank / "bank" / "world" / "desk.md").write_text(
            "# 책상\n\n서서 일하는 책상을 들였다.\n", encoding="utf-8"
        )
        answer = json.loads(call("index", "--json", cwd=bank).stdout)
        assert (answer["added"], answer["changed"], answer["removed"]) == (
            ["world/desk.md"],
            ["world/tools.md"],
            ["experience/2025-03-02-trip.md"],
        )
        assert answer["files"] == 5
        assert json.loads(call("index", "--rebuild", "--json", cwd=bank).stdout)["files"] == 5
        assert (
            "identity"
            in json.loads((bank / "bank" / "_meta" / "tree-index.json").read_text(encoding="utf-8"))["nodes"]
        )

    def test_index_names_the_files_that_it_leaves_out(self, bank):
        (bank / "bank" / "latin.md").write_bytes("# Café\n".encode("latin-1"))
        (bank / "bank" / "binary.md").write_bytes(b"PNG\x00\x01\x02")
        done = call("index", cwd=bank)
        assert done.returncode == 0
        assert done.stdout.startswith("5 files")
        assert sorted(line.split(":")[0] for line in done.stderr.splitlines()) == ["binary.md", "latin.md"]

    def test_status(self, bank):
        call("index", cwd=bank)
        done = call("status", "--files", cwd=bank)
        assert (done.returncode, done.stderr) == (0, "")
        assert "5 files" in done.stdout
        assert "  identity/values.md\n" in done.stdout
        answer = json.loads(call("status", "--files", "--json", cwd=bank).stdout)
        assert answer["files"] == 5
        assert answer["paths"] == sorted(name[5:] for name in NOTES if name.startswith("bank/"))
        assert answer["idf_cache"] == "current"
        (bank / "bank" / "latin.md").write_bytes("# Café\n".encode("latin-1"))
        assert call("status", cwd=bank).stderr.startswith("latin.md: ")

    def test_status_check_finds_damage_and_recall_mends_it(self, bank):
        call("index", cwd=bank)
        assert call("status", "--check", cwd=bank).returncode == 0
        (index,) = (bank / ".memtree").glob("*.bin")
        data = bytearray(index.read_bytes())
        data[-40] ^= 0xFF
        index.write_bytes(data)
        done = call("status", "--check", "--json", cwd=bank)
        assert done.returncode == 1
        assert json.loads(done.stdout)["damage"]
        assert call("recall", "가치관", cwd=bank).stdout.startswith("1. identity/values.md")
        assert call("status", "--check", cwd=bank).returncode == 0


class TestHelp:
    def commands(self):
        from memtree.cli.main import COMMANDS, load

        return [load(name) for name in COMMANDS]

    def test_the_list_names_every_command(self, tmp_path):
        shown = call(cwd=tmp_path)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert call("help", cwd=tmp_path).stdout == call("--help", cwd=tmp_path).stdout == shown.stdout
        for command in self.commands():
            assert re.search(
                rf"^  {command.name.split()[1]} +{re.escape(command.summary)}$", shown.stdout, re.M
            )

    def test_each_command_tells_its_arguments_and_options(self, tmp_path):
        for command in self.commands():
            name = command.name.split()[1]
            shown = call(name, "--help", cwd=tmp_path).stdout
            assert call("help", name, cwd=tmp_path).stdout == shown
            assert shown.startswith(f"usage: {command.name}")
            for option in command.options:
                assert all(switch in shown for switch in option.names)
                assert option.help in shown

    def test_version(self, tmp_path):
        from memtree import __version__

        assert call("--version", cwd=tmp_path).stdout == f"memtree {__version__}\n"

    def test_bash_completes(self, tmp_path):
        if not shutil.which("bash"):
            pytest.skip("no bash here")
        script = call("completion", "bash", cwd=tmp_path).stdout

        def completed(*words):
            line = " ".join(f"'{word}'" for word in words)
            done = subprocess.run(
                [
                    "bash",
                    "-c",
                    f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _memtree; "
                    'echo "${COMPREPLY[@]}"',
                ],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.stderr == ""
            return done.stdout.split()

        (tmp_path / "notes").mkdir()
        assert completed("memtree", "rec") == ["recall"]
        assert completed("memtree", "recall", "--pa") == ["--passages"]
        assert completed("memtree", "recall", "--mode", "") == ["korean", "prefix"]
        assert completed("memtree", "recall", "--bank", "no") == ["notes"]
        assert completed("memtree", "completion", "f") == ["fish"]

    @pytest.mark.parametrize("shell", ["zsh", "fish"])
    def test_other_shells_take_their_script(self, tmp_path, shell):
        script = call("completion", shell, cwd=tmp_path).stdout
        for command in self.commands():
            assert command.name.split()[1] in script
        assert "passages" in script
        if shutil.which(shell):
            done = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, timeout=60)
            assert (done.returncode, done.stderr) == (0, "")


class TestRecallTree:
    def test_a_line_a_file_best_first(self, bank):
        done = recall_tree("여행 가서 뭘 샀지? 귤", cwd=bank)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert all(re.fullmatch(r"[01]\.\d{4}\t\S+\.md", line) for line in lines)
        assert lines[0].endswith("\texperience/2026-01-15-trip.md")
        scores = [float(line.split("\t")[0]) for line in lines]
        assert scores == sorted(scores, reverse=True)
        assert recall_tree("여행 가서 뭘 샀지? 귤", "-n", "1", cwd=bank).stdout.splitlines() == lines[:1]

    def test_json(self, bank):
        found = json.loads(recall_tree("여행", "--json", cwd=bank).stdout)
        lines = recall_tree("여행", cwd=bank).stdout.splitlines()
        assert [f"{hit['score']:.4f}\t{hit['path']}" for hit in found] == lines

    def test_no_match(self, bank):
        done = recall_tree("양자역학", cwd=bank)
        assert (done.returncode, done.stdout, done.stderr) == (1, "NO_MATCH\n", "")
        done = recall_tree("양자역학", "--json", cwd=bank)
        assert (done.returncode, json.loads(done.stdout)) == (1, [])

    def test_the_old_rule_finds_a_word_inside_another(self, bank):
        write_old_tree(bank)
        done = recall_tree("지난부산여행에서", "--mode", "prefix", "--bank", str(bank), cwd=bank.parent)
        assert done.stdout.split("\n")[0].endswith("experience/2025-03-02-trip.md")

    def test_wrong_calls(self, bank):
        done = recall_tree(cwd=bank)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("recall-tree: QUERY is missing")
        assert "try: recall-tree --help" in recall_tree("x", "--nope", cwd=bank).stderr
        assert recall_tree("--help", cwd=bank).stdout.startswith("usage: recall-tree QUERY...")


HEAVY = (
    "numpy",
    "scipy",
    "re",
    "json",
    "argparse",
    "pathlib",
    "dataclasses",
    "typing",
    "enum",
    "functools",
    "inspect",
    "importlib.metadata",
    "rich",
    "yaml",
    "markdown_it",
    "Stemmer",
    "logging",
    "tempfile",
    "datetime",
    "hashlib",
)


def test_a_recall_on_a_built_bank_imports_nothing_heavy(bank):
    call("index", cwd=bank)
    code = (
        "import sys; before = set(sys.modules); from memtree.cli.main import main; main(); "
        "print(sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, "recall", "가치관이 뭐야?"],
        cwd=bank,
        capture_output=True,
        env=environment(PYTHONPATH=os.pathsep.join(sys.path)),
        encoding="utf-8",
        timeout=60,
    )
    assert done.stdout.startswith("1. identity/values.md")
    loaded = set(re.findall(r"'([\w.]+)'", done.stderr))
    assert "memtree.bank" in loaded
    assert sorted(loaded.intersection(HEAVY)) == []
