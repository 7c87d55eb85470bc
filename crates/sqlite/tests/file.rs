//! The file of a store: what is at its name, and beside it, and copies of it.

mod common;

use std::fs;
use std::path::Path;

use coact_persist::{
    Commit, CommitRefusal, EntityId, Event, Seq, Store, StoreError, StoreOutcome, StoreReader, wait,
};
use coact_sqlite::{BackupError, OpenError, SqliteReader, SqliteStore};

use self::common::{folder, names_in, open, read, write};

fn alice() -> EntityId {
    EntityId::new("account", "alice")
}

fn add(store: &SqliteStore, text: &str) {
    let outcome = write(store, &alice(), text);
    assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
}

fn count(path: &Path) -> usize {
    let reader = SqliteReader::open(path).unwrap();
    wait(|done| reader.events(alice(), Seq::ZERO, 1_000, done)).unwrap().len()
}

#[test]
fn what_is_no_file_is_named() {
    use std::error::Error;
    let folder = folder();
    let lost = folder.path().join("no/such/folder");
    for error in [
        SqliteStore::open(lost.join("bank.db")).unwrap_err(),
        SqliteReader::open(lost.join("bank.db")).unwrap_err(),
    ] {
        assert!(matches!(&error, OpenError::NotFound { missing, .. } if *missing == lost));
        assert!(error.to_string().contains("there is no folder `"), "{error}");
        assert!(error.source().is_none());
    }
    let none = folder.path().join("none.db");
    for error in [
        SqliteReader::open(&none).unwrap_err(),
        SqliteReader::open_immutable(&none).unwrap_err(),
        SqliteStore::restore(&none, folder.path().join("bank.db")).unwrap_err(),
    ] {
        assert!(matches!(&error, OpenError::NotFound { missing, .. } if *missing == none));
        assert_eq!(
            error.to_string(),
            format!("`{}` is not there: correct its name", none.display())
        );
    }
    for path in [folder.path(), std::path::Path::new("")] {
        assert!(matches!(SqliteStore::open(path), Err(OpenError::Folder { .. })));
        assert!(matches!(SqliteReader::open(path), Err(OpenError::Folder { .. })));
    }
    let error = SqliteStore::open("PostgreSQL://me:secret@there/bank").unwrap_err();
    assert!(matches!(error, OpenError::Url), "{error}");
    assert!(error.to_string().contains("coact-postgres"), "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"));
    assert!(names_in(&folder).is_empty());
}

/// It is a file that tells a process of another one, and what is left of it after a kill is no
/// hindrance.
#[cfg(unix)]
#[test]
fn the_lock_goes_with_the_store() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = open(&path);
    assert!(names_in(&folder).contains(&"bank.db.lock".to_owned()));
    drop(store);
    assert_eq!(names_in(&folder), ["bank.db"]);
    fs::write(folder.path().join("bank.db.lock"), "").unwrap();
    drop(open(&path));
    assert_eq!(names_in(&folder), ["bank.db"]);
    // Many at once: one at a time has it, although each removes the file of the lock in the end.
    let inside = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let store = match SqliteStore::open(&path) {
                        Ok(store) => store,
                        Err(OpenError::InUse { .. }) => continue,
                        Err(error) => panic!("{error}"),
                    };
                    assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                    drop(store);
                }
            });
        }
    });
    assert_eq!(names_in(&folder), ["bank.db"]);
}

#[test]
fn an_immutable_file_is_refused_if_commits_are_beside_it() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = open(&path);
    add(&store, "x");
    let error = SqliteReader::open_immutable(&path).unwrap_err();
    assert!(matches!(error, OpenError::NotImmutable { .. }), "{error}");
    let copy = folder.path().join("copy.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("VACUUM INTO ?1", [copy.to_str()]).unwrap();
    let reader = SqliteReader::open_immutable(&copy).unwrap();
    let events = wait(|done| reader.events(alice(), Seq::ZERO, 10, done)).unwrap();
    assert_eq!(events.len(), 1);
}

#[test]
fn a_backup_is_a_store() {
    let folder = folder();
    let [path, copy] = ["bank.db", "copy.db"].map(|name| folder.path().join(name));
    let store = open(&path);
    for n in 1..=3 {
        add(&store, &n.to_string());
    }
    let reader = SqliteReader::open(&path).unwrap();
    reader.freeze().unwrap();
    reader.freeze().unwrap();
    reader.back_up(&copy).unwrap();
    let before = fs::read(&copy).unwrap();
    let refused = reader.back_up(&copy).unwrap_err();
    assert!(matches!(refused, BackupError::Exists { .. }), "{refused}");
    assert_eq!(fs::read(&copy).unwrap(), before);
    let nowhere = reader.back_up(folder.path().join("none/copy.db")).unwrap_err();
    assert!(matches!(nowhere, BackupError::Target(OpenError::NotFound { .. })), "{nowhere}");
    // What comes later is not in it; and it goes on where it was.
    add(&store, "later");
    let restored = open(&copy);
    assert_eq!(read(&restored, &alice())[..], read(&store, &alice())[..3]);
    add(&restored, "4");
    assert_eq!((read(&restored, &alice()).len(), read(&store, &alice()).len()), (4, 4));
}

#[test]
fn no_part_of_a_backup_is_left_of_what_cannot_be_read() {
    let folder = folder();
    let [path, copy] = ["bank.db", "copy.db"].map(|name| folder.path().join(name));
    let store = open(&path);
    for _ in 0..100 {
        add(&store, &"x".repeat(1_000));
    }
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    let failed = SqliteReader::open(&path).unwrap().back_up(&copy).unwrap_err();
    assert!(matches!(failed, BackupError::Copy(_)), "{failed}");
    assert!(!copy.exists());
}

#[test]
fn a_restored_backup_is_what_it_was() {
    let folder = folder();
    let [path, copy] = ["bank.db", "copy.db"].map(|name| folder.path().join(name));
    let store = open(&path);
    add(&store, "before");
    SqliteReader::open(&path).unwrap().back_up(&copy).unwrap();
    add(&store, "after");
    assert!(matches!(SqliteStore::restore(&copy, &path), Err(OpenError::InUse { .. })));
    // As after a kill, with what was written in the WAL.
    let wal = folder.path().join("bank.db-wal");
    let left = fs::read(&wal).unwrap();
    drop(store);
    fs::write(&wal, left).unwrap();
    SqliteStore::restore(&copy, &path).unwrap();
    let store = open(&path);
    assert_eq!(read(&store, &alice()).len(), 1);
    add(&store, "anew");
    drop(store);
    assert_eq!(read(&open(&path), &alice()).len(), 2);
    assert!(SqliteStore::restore(folder.path().join("none.db"), &path).is_err());
    assert_eq!(read(&open(&path), &alice()).len(), 2);
    // And where there is nothing.
    let new = folder.path().join("new.db");
    SqliteStore::restore(&copy, &new).unwrap();
    assert_eq!(read(&open(&new), &alice()).len(), 1);
    // One that was written, and not closed, has commits in a WAL.
    let store = open(&copy);
    add(&store, "in the WAL");
    SqliteStore::restore(&copy, &new).unwrap();
    drop(store);
    assert_eq!(read(&open(&new), &alice()).len(), 2);
    // Its own place is one like others.
    SqliteStore::restore(&new, &new).unwrap();
    assert_eq!(read(&open(&new), &alice()).len(), 2);
    assert!(!folder.path().join("new.db.restored").exists());
}

/// By another name it is the same one.
#[cfg(unix)]
#[test]
fn a_link_to_a_file_is_that_file() {
    let folder = folder();
    let [path, link, new] = ["bank.db", "link.db", "new.db"].map(|name| folder.path().join(name));
    let store = open(&path);
    std::os::unix::fs::symlink(&path, &link).unwrap();
    // Also one that is not there before it is opened by the link to it.
    let before = folder.path().join("before.db");
    std::os::unix::fs::symlink("new.db", &before).unwrap();
    let made = open(&before);
    assert!(matches!(SqliteStore::open(&new), Err(OpenError::InUse { .. })));
    // What is beside the file is beside that to which a link leads.
    add(&made, "x");
    let immutable = SqliteReader::open_immutable(&before);
    assert!(matches!(immutable, Err(OpenError::NotImmutable { .. })));
    let copy = folder.path().join("copy.db");
    SqliteReader::open(&before).unwrap().back_up(&copy).unwrap();
    drop(made);
    SqliteStore::restore(&copy, &before).unwrap();
    assert!(before.is_symlink());
    assert_eq!(read(&open(&new), &alice()).len(), 1);
    assert!(matches!(SqliteStore::open(&link), Err(OpenError::InUse { .. })));
    drop(store);
    let store = open(&link);
    assert!(matches!(SqliteStore::open(&path), Err(OpenError::InUse { .. })));
    drop(store);
}

/// As a process leaves it that ends in the middle of it, wherever that is.
#[test]
fn a_restore_that_is_broken_off_is_done_or_was_not_begun() {
    let folder = folder();
    let [path, copy] = ["bank.db", "copy.db"].map(|name| folder.path().join(name));
    let [wal, part, restored] = ["bank.db-wal", "bank.db.coact-part", "bank.db.coact-restored"]
        .map(|name| folder.path().join(name));
    let store = open(&path);
    add(&store, "before");
    SqliteReader::open(&path).unwrap().back_up(&copy).unwrap();
    (0..3).for_each(|n| add(&store, &n.to_string()));
    let (file, left) = (fs::read(&path).unwrap(), fs::read(&wal).unwrap());
    drop(store);
    assert!(!left.is_empty());
    let half = fs::read(&copy).unwrap();
    let half = &half[..half.len() / 2];

    for (has_file, has_wal, is_decided) in
        [(true, true, false), (true, true, true), (true, false, true), (false, false, true)]
    {
        let _ = (fs::remove_file(&path), fs::remove_file(&wal));
        if has_file {
            fs::write(&path, &file).unwrap();
        }
        if has_wal {
            fs::write(&wal, &left).unwrap();
        }
        if is_decided {
            fs::copy(&copy, &restored).unwrap();
            for error in [SqliteReader::open(&path), SqliteReader::open_immutable(&path)] {
                let error = error.unwrap_err();
                assert!(matches!(error, OpenError::Restoring { .. }), "{error}");
            }
        } else {
            fs::write(&part, half).unwrap();
        }
        let store = open(&path);
        assert_eq!(read(&store, &alice()).len(), if is_decided { 1 } else { 4 });
        add(&store, "later");
        drop(store);
        assert_eq!(read(&open(&path), &alice()).len(), if is_decided { 2 } else { 5 });
        // And it can be begun anew.
        SqliteStore::restore(&copy, &path).unwrap();
        assert_eq!(read(&open(&path), &alice()).len(), 1);
        assert_eq!(names_in(&folder), ["bank.db", "copy.db"]);
    }
}

#[cfg(unix)]
#[test]
fn a_file_with_another_name_is_not_written() {
    let folder = folder();
    let [path, other] = ["bank.db", "other.db"].map(|name| folder.path().join(name));
    add(&open(&path), "x");
    fs::hard_link(&path, &other).unwrap();
    for path in [&path, &other] {
        let error = SqliteStore::open(path).unwrap_err();
        assert!(matches!(&error, OpenError::Linked { path: of } if of == path), "{error}");
        assert_eq!(count(path), 1);
    }
    // What is put in its place is another file.
    let copy = folder.path().join("copy.db");
    SqliteReader::open(&other).unwrap().back_up(&copy).unwrap();
    SqliteStore::restore(&copy, &path).unwrap();
    add(&open(&path), "y");
    assert_eq!((count(&path), count(&other)), (2, 1));
    open(&other);
}

#[test]
fn the_names_of_what_is_beside_a_file_are_taken() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    add(&open(&path), "x");
    let reader = SqliteReader::open(&path).unwrap();
    for suffix in ["-wal", "-shm", "-journal", ".lock", ".coact-part", ".coact-restored", ".Lock"] {
        let name = folder.path().join(format!("free.db{suffix}"));
        for error in [
            SqliteStore::open(&name).unwrap_err(),
            SqliteStore::restore(&path, &name).unwrap_err(),
            match reader.back_up(&name).unwrap_err() {
                BackupError::Target(error) => error,
                other => panic!("{other}"),
            },
        ] {
            let is_told = matches!(&error, OpenError::Reserved { of, .. } if of == "free.db");
            assert!(is_told, "{error}");
            assert!(!name.exists());
        }
    }
}

/// What is written where no name leads any more is lost.
#[cfg(unix)]
#[test]
fn nothing_is_committed_in_a_file_that_was_removed() {
    let away = |name: &str| format!("away-{name}");
    for name in ["bank.db", "bank.db-wal"] {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let store = open(&at("bank.db"));
        add(&store, "before");
        let claim = wait(|done| store.claim(alice(), done)).unwrap();
        let refused = |says: &str| {
            let mut commit = Commit::new();
            let member = commit.member(alice(), claim.epoch, claim.last);
            member.event(Event::new("noted", 1, "lost".as_bytes()), claim.hash);
            match wait(|done| store.commit(commit, done)) {
                StoreOutcome::Refused(CommitRefusal::Store(StoreError::Unavailable { why })) => {
                    assert!(why.contains(name) && why.contains(says), "{why}");
                }
                other => panic!("{other:?}"),
            }
            assert!(wait(|done| store.claim(alice(), done)).is_err());
        };
        fs::rename(at(name), at(&away(name))).unwrap();
        refused("was removed");
        fs::write(at(name), "").unwrap();
        refused("is another file");
        // It goes on where it was.
        fs::rename(at(&away(name)), at(name)).unwrap();
        add(&store, "after");
        drop(store);
        assert_eq!(count(&at("bank.db")), 2);
    }
}

/// What is left of a file that was at the name of a copy would be taken for a part of that.
#[test]
fn a_copy_is_not_made_beside_what_is_left_of_another_file() {
    let folder = folder();
    let [path, copy] = ["bank.db", "copy.db"].map(|name| folder.path().join(name));
    add(&open(&path), "x");
    let reader = SqliteReader::open(&path).unwrap();
    for suffix in ["-wal", "-journal", ".coact-restored"] {
        let left = folder.path().join(format!("copy.db{suffix}"));
        fs::write(&left, "something").unwrap();
        let error = reader.back_up(&copy).unwrap_err();
        assert!(matches!(&error, BackupError::Exists { path } if *path == left), "{error}");
        assert!(!copy.exists());
        fs::remove_file(&left).unwrap();
    }
    // What a reader leaves is empty.
    fs::write(folder.path().join("copy.db-wal"), "").unwrap();
    reader.back_up(&copy).unwrap();
    assert_eq!(count(&copy), 1);
}

/// It may be without a WAL, and what is beside it now is that of the other one.
#[cfg(unix)]
#[test]
fn a_reader_reads_no_file_that_was_replaced() {
    let folder = folder();
    let [path, copy, new] = ["bank.db", "copy.db", "new.db"].map(|name| folder.path().join(name));
    let restored = folder.path().join("bank.db.coact-restored");
    add(&open(&path), "x");
    SqliteReader::open(&path).unwrap().back_up(&copy).unwrap();
    add(&open(&path), "y");
    SqliteStore::restore(&copy, &path).unwrap();
    let [reader, frozen] = [(); 2].map(|()| SqliteReader::open(&path).unwrap());
    let events = |reader: &SqliteReader| wait(|done| reader.events(alice(), Seq::ZERO, 10, done));
    assert_eq!(events(&reader).unwrap().len(), 1);
    let store = open(&path);
    frozen.freeze().unwrap();
    (0..3).for_each(|n| add(&store, &n.to_string()));
    // It has become one with a WAL, which is read.
    assert_eq!((events(&reader).unwrap().len(), events(&frozen).unwrap().len()), (4, 1));
    drop(store);

    let refused = |says: &str| {
        let error = events(&reader).unwrap_err();
        assert!(matches!(&error, StoreError::Unavailable { why } if why.contains(says)), "{error}");
        let error = reader.back_up(&new).unwrap_err();
        assert!(matches!(&error, BackupError::Replaced { path: of } if *of == path), "{error}");
        assert!(!new.exists());
    };
    fs::copy(&copy, &restored).unwrap();
    refused("was put there");
    fs::remove_file(&restored).unwrap();
    assert_eq!(events(&reader).unwrap().len(), 4);
    SqliteStore::restore(&copy, &path).unwrap();
    let store = open(&path);
    add(&store, "anew");
    refused("is another file now");
    assert_eq!(events(&frozen).unwrap().len(), 1, "as of the moment");
    drop((reader, frozen));
    assert_eq!(count(&path), 2);
}

/// The copy that is made would take its place before it is read.
#[test]
fn a_part_of_a_copy_is_not_restored_beside_itself() {
    let folder = folder();
    let [path, part] = ["bank.db", "bank.db.coact-part"].map(|name| folder.path().join(name));
    add(&open(&path), "x");
    fs::rename(&path, &part).unwrap();
    let error = SqliteStore::restore(&part, &path).unwrap_err();
    assert!(matches!(error, OpenError::Reserved { .. }), "{error}");
    SqliteStore::restore(&part, folder.path().join("other.db")).unwrap();
    assert_eq!(count(&folder.path().join("other.db")), 1);
}

#[test]
fn nothing_but_a_store_is_put_in_the_place_of_a_file() {
    let folder = folder();
    let [path, restored] =
        ["bank.db", "bank.db.coact-restored"].map(|name| folder.path().join(name));
    add(&open(&path), "x");
    for other in ["", "something else, which is long enough to be more than a header would be"] {
        fs::write(&restored, other).unwrap();
        let error = SqliteStore::open(&path).unwrap_err();
        assert!(
            matches!(&error, OpenError::NotAStore { path, .. } if *path == restored),
            "{error}"
        );
        assert_eq!(fs::read(&restored).unwrap(), other.as_bytes());
    }
    fs::remove_file(&restored).unwrap();
    assert_eq!(count(&path), 1);
}

/// As a process leaves it that has ended between the two.
#[cfg(unix)]
#[test]
fn a_copy_that_has_both_names_is_opened() {
    let folder = folder();
    let [path, part] = ["bank.db", "bank.db.coact-part"].map(|name| folder.path().join(name));
    add(&open(&path), "x");
    fs::hard_link(&path, &part).unwrap();
    add(&open(&path), "y");
    assert!(!part.exists());
    // Not one with a third name, or beside another file.
    fs::hard_link(&path, &part).unwrap();
    fs::hard_link(&path, folder.path().join("other.db")).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(OpenError::Linked { .. })));
    fs::remove_file(&part).unwrap();
    fs::write(&part, "").unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(OpenError::Linked { .. })));
}

#[test]
fn a_copy_is_whole_before_it_has_its_name() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = open(&path);
    (0..20).for_each(|n| add(&store, &n.to_string()));
    let reader = SqliteReader::open(&path).unwrap();
    for n in 0..30 {
        let copy = folder.path().join(format!("copy-{n}.db"));
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| {
                loop {
                    match SqliteStore::open(&copy) {
                        Ok(store) => {
                            let found = read(&store, &alice()).len();
                            add(&store, "mine");
                            return found;
                        }
                        Err(OpenError::InUse { .. }) => std::thread::yield_now(),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
            let copied = reader.back_up(&copy);
            let found = opened.join().unwrap();
            match copied {
                Ok(()) => assert_eq!(found, 20),
                // The store was first, and keeps its file.
                Err(BackupError::Exists { .. } | BackupError::Target(OpenError::InUse { .. })) => {
                    assert_eq!(found, 0);
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(count(&copy), found + 1);
        });
    }
}

/// No call waits for what is no file, and each says what is wrong.
#[cfg(unix)]
#[test]
fn what_is_wrong_with_a_name_is_told() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let told = |path: &Path, says: &str| {
        for error in [
            SqliteStore::open(path).map(drop).unwrap_err(),
            SqliteReader::open(path).map(drop).unwrap_err(),
            SqliteReader::open_immutable(path).map(drop).unwrap_err(),
        ] {
            assert!(error.to_string().contains(says), "{error}");
        }
    };
    let _socket = UnixListener::bind(at("socket")).unwrap();
    told(&at("socket"), "is a pipe, a device or the like");
    told(Path::new("/dev/null"), "is a pipe, a device or the like");
    fs::write(at("text"), "x").unwrap();
    told(&at("text/x"), "ot a directory");
    symlink("loop", at("loop")).unwrap();
    told(&at("loop"), "symbolic links");
    told(&at("new.db/"), "is a folder: name a file in it");
    told(Path::new(""), "name a file");
    told(&at(&"a".repeat(256)), "too long");
    // One that is too long for what is beside it, or with its folder.
    let is_long = |path: &Path, says: &str| {
        let error = SqliteStore::open(path).unwrap_err();
        assert!(matches!(error, OpenError::Io { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!path.exists());
    };
    is_long(&at(&"a".repeat(250)), "too long");
    is_long(&at(&"a".repeat(237)), "too long");
    let name = at(&"a".repeat(236));
    add(&open(&name), "x");
    SqliteStore::restore(&name, &name).unwrap();
    assert_eq!(count(&name), 1);
    let deep = at(&format!("{0}/{0}", "d".repeat(200)));
    fs::create_dir_all(&deep).unwrap();
    let room = 489 - deep.as_os_str().len() - 1;
    is_long(&deep.join("a".repeat(room + 1)), "with its folder, the name has more than 489 bytes");
    let longest = deep.join("a".repeat(room));
    add(&open(&longest), "x");
    SqliteStore::restore(&longest, &longest).unwrap();
    assert_eq!(count(&longest), 1);
    // Something has a name that is needed.
    for suffix in ["-wal", "-shm", ".lock", ".coact-part", ".coact-restored"] {
        let (path, other) = (at("new.db"), at(&format!("new.db{suffix}")));
        fs::create_dir(&other).unwrap();
        let error = SqliteStore::open(&path).unwrap_err();
        let is_told = matches!(&error, OpenError::InTheWay { other: of, .. } if *of == other);
        assert!(is_told, "{error}");
        assert!(!path.exists());
        fs::remove_dir(&other).unwrap();
        let _socket = UnixListener::bind(&other).unwrap();
        assert!(matches!(SqliteStore::open(&path), Err(OpenError::InTheWay { .. })));
        fs::remove_file(&other).unwrap();
    }
}

/// A handle is left, and still used: the file is another store's all the same.
#[test]
fn a_store_that_is_closed_gives_up_its_file() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = open(&path);
    let claim = wait(|done| store.claim(alice(), done)).unwrap();
    let step = || {
        let mut commit = Commit::new();
        let member = commit.member(alice(), claim.epoch, claim.last);
        member.event(Event::new("noted", 1, b"before".to_vec()), claim.hash);
        commit
    };
    let (tell, told) = std::sync::mpsc::channel();
    let outcome = tell.clone();
    store.commit(step(), Box::new(move |told| outcome.send(format!("{told:?}")).unwrap()));
    let count = tell.clone();
    let read = move |found: Result<Vec<_>, _>| count.send(format!("{}", found.unwrap().len()));
    store.events(alice(), Seq::ZERO, 10, Box::new(move |found| read(found).unwrap()));
    let closed = tell;
    store.close(Box::new(move |()| closed.send("closed".into()).unwrap()));
    let late = (
        wait(|done| store.commit(step(), done)),
        wait(|done| store.claim(alice(), done)).err(),
        wait(|done| store.settle(step().id(), done)).err(),
        wait(|done| store.events(alice(), Seq::ZERO, 10, done)).err(),
        wait(|done| store.position(done)).err(),
    );
    let is = || Some(StoreError::Closed);
    let refused = StoreOutcome::Refused(CommitRefusal::Store(StoreError::Closed));
    assert_eq!(late, (refused, is(), is(), is(), is()));
    // What was asked before was told before. (The two halves of a store tell in any order.)
    let told: Vec<String> = told.iter().collect();
    assert_eq!(told.last().map(String::as_str), Some("closed"));
    assert!(told.iter().any(|one| one.starts_with("Committed")), "{told:?}");
    assert_eq!(told.len(), 3);
    // All is in the file, and nothing beside it.
    assert_eq!(names_in(&folder), ["bank.db"]);
    let next = open(&path);
    assert_eq!(read_texts(&next), ["before"]);
    add(&next, "behind");
    wait(|done| store.close(done));
    drop(store);
    assert_eq!(read_texts(&next), ["before", "behind"]);
}

fn read_texts(store: &SqliteStore) -> Vec<String> {
    let text = |stored: coact_persist::StoredEvent| {
        String::from_utf8_lossy(&stored.event.payload).into_owned()
    };
    read(store, &alice()).into_iter().map(text).collect()
}

/// Neither thread waits for itself.
#[test]
fn the_last_handle_may_be_dropped_where_it_is_told_to_be_closed() {
    let folder = folder();
    let path = folder.path().join("bank.db");
    let store = std::sync::Arc::new(open(&path));
    let (tell, told) = std::sync::mpsc::channel();
    let last = std::sync::Arc::clone(&store);
    let (release, released) = std::sync::mpsc::channel();
    store.close(Box::new(move |()| {
        released.recv().unwrap();
        drop(last);
        tell.send(()).unwrap();
    }));
    drop(store);
    release.send(()).unwrap();
    told.recv().unwrap();
    add(&open(&path), "x");
}
