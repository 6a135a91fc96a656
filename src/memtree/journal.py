"""Changes of several files that happen wholly or not at all, and can be taken back.

A change lies in ``.memtree/journal/`` as a folder whose name says how far it got:

    stage-7   being prepared: old and new contents are written, no file of the user is touched
    apply-7   decided: the new contents are moved into place one by one
    done-7    finished: the old contents are kept for `undo`

Each step is one rename. After a kill `recover` drops what was only staged and finishes what was decided, so
the workspace is as before or as after. All space is taken while staging; from then on files are only renamed,
so that a full disk can't stop a change half-way.
"""

from __future__ import annotations

import os
import shutil

from memtree.errors import MemtreeError, WriteError
from memtree.files import Lock, contained, is_temporary, remove, replace, sync_folder, write_atomic
from memtree.workspace import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memtree.workspace import Workspace

KEPT = 20
_STATES = ("stage", "apply", "done")


class Writing:
    """Hold the workspace's lock in a ``with`` block; what a killed writer left is put right first.

    Parameters
    ----------
    workspace : Workspace
    timeout : float
        Seconds to wait for another writer.

    Raises
    ------
    LockError
        Another process holds the lock.
    """

    def __init__(self, workspace: Workspace, timeout: float = 10.0):
        self.workspace = workspace
        self.lock = Lock(os.path.join(workspace.state, "lock"), timeout)

    def __enter__(self) -> Writing:
        self.lock.__enter__()
        try:
            if self.lock.was_abandoned:
                _sweep(self.workspace)
            _recover(self.workspace)
        except BaseException:
            self.lock.__exit__()
            raise
        return self

    def __exit__(self, *details: object) -> None:
        self.lock.__exit__(*details)


def recover(workspace: Workspace) -> bool:
    """Finish or drop a change that a killed process left; cheap if there is none.

    Meant for readers, too: while a writer is at work, or where nothing can be written, nothing happens.

    Returns
    -------
    bool
        Whether there was one.

    Raises
    ------
    MemtreeError
        A file of the change was edited meanwhile; both versions are kept.
    """
    if not workspace.is_interrupted():
        return False
    try:
        with Writing(workspace, timeout=0.0):
            return True
    except OSError:  # the lock is held, or the disk refuses
        return False


def apply(
    workspace: Workspace, label: str, contents: Mapping[str, bytes | None], like: Mapping[str, str] | None = None
) -> None:
    """Change several files, all or none. The caller is in a `Writing` block.

    Parameters
    ----------
    workspace : Workspace
    label : str
        What the change is, for `undo` to tell.
    contents : mapping of str to bytes or None
        New content by path below the workspace; None deletes the file.
    like : mapping of str to str, optional
        Of a new file, the one whose mode it takes: what was private stays so.

    Raises
    ------
    PathError
        A path leaves the workspace.
    WriteError
        Nothing was changed.
    """
    _apply(workspace, label, contents, None, like or {})


def undo(workspace: Workspace) -> str:
    """Take back the last change of several files.

    Returns
    -------
    str
        Its label.

    Raises
    ------
    MemtreeError
        There is none, or a file of it was edited since; nothing was changed.
    """
    with Writing(workspace):
        done = [number for state, number in _entries(workspace) if state == "done"]
        if not done:
            raise MemtreeError("there is no change to take back", path=workspace.root)
        number = max(done)
        folder = _folder(workspace, "done", number)
        manifest = _read_manifest(folder)
        contents: dict[str, bytes | None] = {}
        for index, item in enumerate(manifest["files"]):
            path = contained(workspace.root, item["path"])
            if _digest_of(path) != item["new"]:
                raise MemtreeError(
                    f"was edited after '{manifest['label']}': taking that back would lose the edit",
                    path=path,
                    remedy="move your version away, or keep the change",
                )
            contents[item["path"]] = None
            if item["old"] is not None:
                with open(os.path.join(folder, f"old-{index}"), "rb") as file:
                    contents[item["path"]] = file.read()
        _apply(workspace, f"undo {manifest['label']}", contents, number, {})
        return manifest["label"]


def _apply(
    workspace: Workspace,
    label: str,
    contents: Mapping[str, bytes | None],
    undoes: int | None,
    like: Mapping[str, str],
) -> None:
    number = 1 + max((number for _, number in _entries(workspace)), default=0)
    stage = _folder(workspace, "stage", number)
    decided = _folder(workspace, "apply", number)
    try:
        _stage(workspace, stage, label, contents, undoes, like)
        os.rename(stage, decided)
        sync_folder(os.path.dirname(stage))
    except OSError as error:
        shutil.rmtree(stage, ignore_errors=True)
        why = error.strerror or error
        raise WriteError(f"can't prepare the change: {why}", path=stage, remedy="nothing was changed") from error
    try:
        _carry_out(workspace, number)
    except MemtreeError:
        _roll_back(workspace, number)
        raise
    except OSError as error:
        _roll_back(workspace, number)
        raise WriteError(
            f"can't write: {error.strerror or error}",
            path=error.filename2 or error.filename,
            remedy="nothing was changed",
        ) from error


def _stage(
    workspace: Workspace,
    stage: str,
    label: str,
    contents: Mapping[str, bytes | None],
    undoes: int | None,
    like: Mapping[str, str],
) -> None:
    """Write the folder of a change: manifest, old and new contents, all flushed to disk."""
    import json

    os.makedirs(stage)
    files = []
    made: list[str] = []
    for index, (relative, new) in enumerate(contents.items()):
        path = contained(workspace.root, relative)
        old = None
        if os.path.exists(path):
            with open(path, "rb") as file:
                old = file.read()
            _write(os.path.join(stage, f"old-{index}"), old, path)
        if new is not None:
            model = contained(workspace.root, like.get(relative, relative)) if old is None else path
            _write(os.path.join(stage, f"new-{index}"), new, model)
            made += [folder for folder in _missing_folders(path, workspace.root) if folder not in made]
        files.append(
            {
                "path": relative,
                "old": None if old is None else digest(old).hex(),
                "new": None if new is None else digest(new).hex(),
            }
        )
    manifest = {"label": label, "undoes": undoes, "files": files, "folders": made}
    text = json.dumps(manifest, ensure_ascii=False, indent=1)
    write_atomic(os.path.join(stage, "manifest.json"), text.encode("utf-8", "surrogateescape"))
    sync_folder(stage)


def _write(path: str, data: bytes, like: str) -> None:
    write_atomic(path, data)
    if os.path.exists(like):
        shutil.copymode(like, path)


def _missing_folders(path: str, root: str) -> Iterator[str]:
    """Give the folders that must be made for a file, relative to `root`, outermost first."""
    missing = []
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        missing.append(os.path.relpath(folder, root).replace(os.sep, "/"))
        folder = os.path.dirname(folder)
    return reversed(missing)


def _carry_out(workspace: Workspace, number: int) -> None:
    """Move the new contents of a decided change into place; may be repeated."""
    folder = _folder(workspace, "apply", number)
    manifest = _read_manifest(folder)
    targets = [os.path.realpath(contained(workspace.root, item["path"])) for item in manifest["files"]]
    for item, target in zip(manifest["files"], targets, strict=True):
        if _digest_of(target) not in (item["old"], item["new"]):
            raise MemtreeError(
                f"was edited while '{manifest['label']}' was interrupted",
                path=target,
                remedy=f"move your version away and run again; the contents meant for it are in {folder}",
            )
    for relative in manifest["folders"]:
        os.makedirs(contained(workspace.root, relative), exist_ok=True)
    touched = set()
    for index, (item, target) in enumerate(zip(manifest["files"], targets, strict=True)):
        if item["new"] is None:
            remove(target)
        elif _digest_of(target) != item["new"]:
            _move(os.path.join(folder, f"new-{index}"), target)
        touched.add(os.path.dirname(target))
    for parent in touched:
        if os.path.isdir(parent):
            sync_folder(parent)
    _finish(workspace, number, manifest)


def _finish(workspace: Workspace, number: int, manifest: dict) -> None:
    """Turn a change that is carried out into one that can be undone, or close the one it undoes."""
    folder = _folder(workspace, "apply", number)
    if manifest["undoes"] is None:
        for index in range(len(manifest["files"])):
            remove(os.path.join(folder, f"new-{index}"))
        os.rename(folder, _folder(workspace, "done", number))
        sync_folder(os.path.dirname(folder))
        done = sorted(number for state, number in _entries(workspace) if state == "done")
        for outdated in done[:-KEPT]:
            shutil.rmtree(_folder(workspace, "done", outdated), ignore_errors=True)
        return
    undone = _folder(workspace, "done", manifest["undoes"])
    if os.path.isdir(undone):
        for relative in reversed(_read_manifest(undone)["folders"]):
            _remove_empty_folder(contained(workspace.root, relative))
        _discard(undone)
    _discard(folder)


def _roll_back(workspace: Workspace, number: int) -> None:
    """Put the old contents back after a refused rename; nothing is written anew."""
    folder = _folder(workspace, "apply", number)
    manifest = _read_manifest(folder)
    for index, item in enumerate(manifest["files"]):
        target = os.path.realpath(contained(workspace.root, item["path"]))
        # Only what this change has put there is taken back: anything else is somebody's edit.
        if _digest_of(target) != item["new"]:
            continue
        if item["old"] is None:
            remove(target)
        else:
            _move(os.path.join(folder, f"old-{index}"), target)
    for relative in reversed(manifest["folders"]):
        _remove_empty_folder(contained(workspace.root, relative))
    _discard(folder)


def _move(source: str, target: str) -> None:
    import errno

    try:
        replace(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        # The bank lies on another file system than .memtree/.
        with open(source, "rb") as file:
            write_atomic(target, file.read())


def _recover(workspace: Workspace) -> None:
    for state, number in sorted(_entries(workspace)):
        if state == "stage":
            shutil.rmtree(_folder(workspace, state, number), ignore_errors=True)
        elif state == "apply":
            _carry_out(workspace, number)


def _discard(folder: str) -> None:
    """Delete a journal folder so that a kill half-way leaves only what `recover` drops."""
    parent, name = os.path.split(folder)
    dropped = os.path.join(parent, "stage-" + name.rpartition("-")[2])
    os.rename(folder, dropped)
    sync_folder(parent)
    shutil.rmtree(dropped, ignore_errors=True)


def _remove_empty_folder(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        # Something else lies in it by now, or it is gone.
        pass


def _sweep(workspace: Workspace) -> None:
    """Delete the temporary files of a killed write."""
    for top in {workspace.bank, workspace.logs}:
        for folder, folders, names in os.walk(top):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if is_temporary(name):
                    remove(os.path.join(folder, name))
    for name in os.listdir(workspace.root):
        if is_temporary(name):
            remove(os.path.join(workspace.root, name))


def _entries(workspace: Workspace) -> list[tuple[str, int]]:
    try:
        names = os.listdir(os.path.join(workspace.state, "journal"))
    except OSError:
        return []
    found = []
    for name in names:
        state, _, number = name.partition("-")
        if state in _STATES and number.isdecimal():
            found.append((state, int(number)))
    return found


def _folder(workspace: Workspace, state: str, number: int) -> str:
    return os.path.join(workspace.state, "journal", f"{state}-{number}")


def _read_manifest(folder: str) -> dict:
    import json

    path = os.path.join(folder, "manifest.json")
    try:
        with open(path, "rb") as file:
            return json.loads(file.read().decode("utf-8", "surrogateescape"))
    except (OSError, ValueError) as error:
        raise MemtreeError(f"the journal can't be read: {error}", path=path) from error


def _digest_of(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return digest(file.read()).hex()
    except FileNotFoundError:
        return None
