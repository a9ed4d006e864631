//! The blocks of many files, one file after another, numbered in order.
//!
//! A file is opened when the previous one has ended. An error is a task too, so that it is reported in order,
//! by its number.

use std::collections::VecDeque;
use std::io::{Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::InputError;
use crate::read::arrow::MAGIC;
use crate::read::arrow::messages::{Batch, Batches, Trouble};
use crate::read::source::{Block, Blocks, Cut, OnInterrupt, Origin, Source, Stop};
use crate::read::table::batch::{Pieces, RowPiece};
use crate::read::table::layout::Layout;

use super::tables::Tables;

/// A file that has not been opened yet.
pub enum Waiting {
    /// A file given by its name.
    Named(PathBuf),
    /// A reader of the bytes, and a name for messages.
    Given(String, Box<dyn Read + Send>),
    /// A file given by its name, which grows.
    Followed(PathBuf),
    /// The rows of a table, and a name for messages.
    Table(String, Box<Pieces>),
}

/// What to do with a block.
#[derive(Debug)]
pub enum Piece {
    /// Read its lines of text.
    Lines,
    /// Read its rows, a batch of an Arrow file.
    Batch(Batch),
    /// Read these rows of a table.
    Rows(RowPiece),
    /// Report one line that is too long.
    TooLong,
    /// Stop: the bytes could not be read.
    Failed(InputError),
    /// Stop: everything is read.
    End,
}

/// A block and its number among all blocks.
#[derive(Debug)]
pub struct Task {
    /// The number of the task, from 0.
    pub number: u64,
    /// The file, for messages.
    pub file: Arc<str>,
    /// Whether this is the first block of the file.
    pub begins_file: bool,
    /// The number of bytes read from all files up to here, in their compressed form.
    pub bytes_read: u64,
    /// Whether the bytes do not come from a file, so that those after them may take their time.
    pub is_of_pipe: bool,
    /// Where the file has the columns of the schema, if it is a table.
    pub layout: Option<Arc<Layout>>,
    /// What to do.
    pub piece: Piece,
    /// The bytes of the block, if there are any.
    pub block: Block,
}

/// The files of a stream.
pub struct Files {
    waiting: VecDeque<Waiting>,
    open: Option<Open>,
    given_out: u64,
    finished_bytes: u64,
    ended: bool,
    reads_aside: bool,
    tables: Option<Tables>,
    stop: Stop,
    on_interrupt: OnInterrupt,
}

struct Open {
    content: Content,
    layout: Option<Arc<Layout>>,
    lines_before_header: u64,
    origin: Origin,
    file: Arc<str>,
    begins: bool,
    is_pipe: bool,
}

/// The content of a file.
enum Content {
    Text(Blocks),
    Arrow(Batches),
    Table(Box<Pieces>),
}

impl Content {
    /// Detect the content from the first bytes. For text this waits for only one byte, or for a few if it
    /// begins like an Arrow file.
    fn of(mut bytes: Box<dyn Read + Send>, tables: Option<&Tables>) -> Result<Content, Trouble> {
        let mut first = Vec::new();
        while first.len() < MAGIC.len() && MAGIC.starts_with(&first) {
            let had = first.len();
            (&mut bytes).take(1).read_to_end(&mut first).map_err(Trouble::Bytes)?;
            if first.len() == had {
                break;
            }
        }
        if first == MAGIC {
            return Batches::new(bytes).map(Content::Arrow);
        }
        let bytes = Box::new(Cursor::new(first).chain(bytes));
        Ok(Content::Text(match tables {
            None => Blocks::new(bytes),
            Some(tables) => Blocks::of_records(bytes, tables.dialect.delimiter),
        }))
    }

    /// Read the next piece into `block`; `None` after the last.
    fn next_piece(&mut self, block: &mut Block) -> Result<Option<Piece>, Trouble> {
        match self {
            Content::Arrow(batches) => Ok(batches.next_batch(block)?.map(Piece::Batch)),
            Content::Table(pieces) => {
                Ok(pieces.next_piece().map_err(Trouble::Wrong)?.map(Piece::Rows))
            }
            Content::Text(blocks) => match blocks.next_block(block).map_err(Trouble::Bytes)? {
                Cut::Lines => Ok(Some(Piece::Lines)),
                Cut::TooLong => Ok(Some(Piece::TooLong)),
                Cut::End => Ok(None),
            },
        }
    }
}

impl Files {
    /// All files. Pipes are read by a thread of their own, and if `reads_aside`, compressed files, too. If `tables`,
    /// text is the records of tables. `stop` ends files that are followed.
    pub fn new(
        waiting: VecDeque<Waiting>,
        tables: Option<Tables>,
        reads_aside: bool,
        stop: Stop,
        on_interrupt: OnInterrupt,
    ) -> Files {
        Files {
            tables,
            waiting,
            open: None,
            given_out: 0,
            finished_bytes: 0,
            ended: false,
            reads_aside,
            stop,
            on_interrupt,
        }
    }

    /// The number of the next task.
    pub fn next_number(&self) -> u64 {
        self.given_out
    }

    /// Whether the next task may take its time: it is of a pipe, or of a file that is not open yet.
    pub fn may_wait(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.is_pipe)
    }

    /// The next task; after the last one every task is an end.
    pub fn next_task(&mut self, mut block: Block) -> Task {
        let piece = self.next_piece(&mut block).unwrap_or_else(Piece::Failed);
        self.ended = matches!(piece, Piece::End | Piece::Failed(_));
        let (file, begins_file) = match &mut self.open {
            Some(open) => (Arc::clone(&open.file), std::mem::take(&mut open.begins)),
            None => (Arc::from(""), false),
        };
        let is_of_pipe = self.open.as_ref().is_some_and(|open| open.is_pipe);
        let layout = self.open.as_ref().and_then(|open| open.layout.clone());
        let number = self.given_out;
        self.given_out += 1;
        let bytes_read = self.bytes_read();
        Task { number, file, begins_file, bytes_read, is_of_pipe, layout, piece, block }
    }

    fn bytes_read(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.origin.consumed());
        self.finished_bytes + open
    }

    fn next_piece(&mut self, block: &mut Block) -> Result<Piece, InputError> {
        while !self.ended {
            let Some(open) = &mut self.open else {
                if !self.open_next()? {
                    break;
                }
                continue;
            };
            match open.content.next_piece(block) {
                Ok(Some(piece)) => {
                    if let Some(tables) = &self.tables
                        && !open.begin_table(tables, &piece, block)?
                    {
                        continue;
                    }
                    return Ok(piece);
                }
                Ok(None) => self.close(),
                Err(trouble) => return Err(explained(trouble, &open.origin)),
            }
        }
        Ok(Piece::End)
    }

    /// Open the next file; false after the last.
    fn open_next(&mut self) -> Result<bool, InputError> {
        let source = match self.waiting.pop_front() {
            None => return Ok(false),
            Some(Waiting::Named(name)) => Source::open(&name, &self.on_interrupt)?,
            Some(Waiting::Given(name, reader)) => Source::new(&name, reader, &self.on_interrupt)?,
            Some(Waiting::Followed(name)) => {
                Source::follow(&name, self.stop.clone(), &self.on_interrupt)
            }
            Some(Waiting::Table(name, pieces)) => {
                self.open_table(&name, pieces);
                return Ok(true);
            }
        };
        let reads_aside = self.reads_aside || source.is_pipe;
        let source = if reads_aside { source.read_ahead(&self.on_interrupt) } else { source };
        let file = Arc::from(source.origin.name.as_str());
        let (origin, is_pipe) = (source.origin, source.is_pipe);
        let content = Content::of(source.bytes, self.tables.as_ref())
            .map_err(|trouble| explained(trouble, &origin))?;
        self.open = Some(Open {
            content,
            layout: None,
            lines_before_header: 0,
            origin,
            file,
            begins: true,
            is_pipe,
        });
        Ok(true)
    }

    /// Open a table, whose bytes are not ours to count.
    fn open_table(&mut self, name: &str, pieces: Box<Pieces>) {
        self.open = Some(Open {
            content: Content::Table(pieces),
            layout: None,
            lines_before_header: 0,
            origin: Origin::of_no_bytes(name),
            file: Arc::from(name),
            begins: true,
            is_pipe: false,
        });
    }

    fn close(&mut self) {
        self.finished_bytes = self.bytes_read();
        self.open = None;
    }
}

impl Open {
    /// Read the header of a table, if it is not read yet; false if the block has no record.
    fn begin_table(
        &mut self,
        tables: &Tables,
        piece: &Piece,
        block: &mut Block,
    ) -> Result<bool, InputError> {
        if self.layout.is_some() || matches!(piece, Piece::Batch(_)) {
            return Ok(true);
        }
        let lines = self.lines_before_header + block.lines_before();
        self.layout = tables.begin(block, piece, lines, &self.file)?;
        if self.layout.is_none() {
            self.lines_before_header += block.lines_before();
            return Ok(false);
        }
        block.add_lines_before(self.lines_before_header);
        Ok(true)
    }
}

fn explained(trouble: Trouble, origin: &Origin) -> InputError {
    match trouble {
        Trouble::Bytes(error) => origin.broken(&error),
        Trouble::Wrong(fault) => fault.of_file(&origin.name),
    }
}
