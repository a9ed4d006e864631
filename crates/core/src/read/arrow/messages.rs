//! Cuts an Arrow file into batches, sequentially.
//!
//! Cost: the bytes of a batch are read straight into the block. Of its metadata only the length of the body
//! is decoded. Memory is bounded by [`LARGEST_BATCH`] for any input, and grows as the bytes arrive.

use std::io::{self, ErrorKind, Read};

use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus::ReadAsRoot;

use super::schema::Contents;
use super::{ALIGNMENT, CONTINUATION, MAGIC, MAGIC_AT_END, fault, schema, unsound};
use crate::read::format::Fault;
use crate::read::source::Block;

/// The largest batch that is read. A line of text is at most 16 MiB, and its features take four times that.
const LARGEST_BATCH: usize = 128 << 20;
const LARGEST_METADATA: usize = 1 << 20;
/// The footer of a file with two million batches.
const LARGEST_FOOTER: u64 = 64 << 20;
/// The most padding before the first message: some writers begin it at a multiple of 64.
const MOST_PADDING: usize = 64;

/// Why a batch could not be read.
#[derive(Debug)]
pub enum Trouble {
    /// The bytes could not be read.
    Bytes(io::Error),
    /// The bytes are not valid.
    Wrong(Fault),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Trouble::Wrong(fault)
    }
}

/// A batch in a block: metadata, then body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of the batch in its file, from 1.
    pub number: u64,
    /// What the schema of the file says of its examples.
    pub contents: Contents,
    /// The length of the metadata.
    pub metadata: usize,
}

/// The batches of one file.
pub struct Batches {
    source: Box<dyn Read + Send>,
    contents: Contents,
    given_out: u64,
    ended: bool,
}

impl Batches {
    /// The batches of `source`, whose first bytes, [`MAGIC`], have already been read.
    pub fn new(source: Box<dyn Read + Send>) -> Result<Batches, Trouble> {
        let contents = Contents::default();
        let mut batches = Batches { source, contents, given_out: 0, ended: false };
        let mut block = Block::default();
        batches.skip_padding()?;
        let length = batches.metadata(&mut block)?;
        batches.contents = match message(&block, length)?.header().map_err(unsound)? {
            Some(ipc::MessageHeaderRef::Schema(schema)) => schema::check(schema)?,
            _ => {
                return Err(
                    fault("a schema at the start of an Arrow file", "something else").into()
                );
            }
        };
        Ok(batches)
    }

    /// Read the next batch into `block`; `None` after the last.
    pub fn next_batch(&mut self, block: &mut Block) -> Result<Option<Batch>, Trouble> {
        block.empty();
        if self.ended {
            return Ok(None);
        }
        if self.word()? != CONTINUATION {
            let expected = format!("a batch or the end {}", self.place());
            return Err(fault(expected, "something else").into());
        }
        let metadata = self.metadata(block)?;
        if metadata == 0 {
            self.check_end()?;
            self.ended = true;
            return Ok(None);
        }
        let length = self.body_length(block, metadata)?;
        self.add(block, length)?;
        self.given_out += 1;
        Ok(Some(Batch { number: self.given_out, contents: self.contents, metadata }))
    }

    /// Read the length of the metadata and the metadata; returns their length.
    fn metadata(&mut self, block: &mut Block) -> Result<usize, Trouble> {
        let length = u32::from_le_bytes(self.word()?) as usize;
        if length > LARGEST_METADATA {
            let expected = format!("at most {LARGEST_METADATA} bytes of metadata {}", self.place());
            return Err(fault(expected, format!("{length}")).into());
        }
        self.add(block, length)?;
        Ok(length)
    }

    fn body_length(&self, block: &Block, metadata: usize) -> Result<usize, Trouble> {
        let message = message(block, metadata)?;
        if !matches!(
            message.header().map_err(unsound)?,
            Some(ipc::MessageHeaderRef::RecordBatch(_))
        ) {
            return Err(fault(format!("a record batch {}", self.place()), "another message").into());
        }
        let length = message.body_length().map_err(unsound)?;
        match usize::try_from(length) {
            Ok(length) if length <= LARGEST_BATCH => Ok(length),
            _ => {
                let expected = format!("batches of at most {} MiB", LARGEST_BATCH >> 20);
                Err(fault(expected, format!("one of {length} bytes {}", self.place())).into())
            }
        }
    }

    /// Skip the zeros between the magic bytes and the first message.
    fn skip_padding(&mut self) -> Result<(), Trouble> {
        for _ in (MAGIC.len()..=MOST_PADDING).step_by(4) {
            match self.word()? {
                CONTINUATION => return Ok(()),
                [0, 0, 0, 0] => {}
                _ => break,
            }
        }
        Err(fault("a schema at the start of an Arrow file", "something else").into())
    }

    /// Check that the footer lists as many batches as were read.
    fn check_end(&mut self) -> Result<(), Trouble> {
        let mut end = Vec::new();
        let mut source = (&mut self.source).take(LARGEST_FOOTER);
        source.read_to_end(&mut end).map_err(Trouble::Bytes)?;
        let counted = batches_in_footer(&end).map_err(unsound)?;
        if counted == Some(self.given_out) {
            return Ok(());
        }
        let expected = format!("the footer of an Arrow file with {} batches", self.given_out);
        let found = match counted {
            Some(count) => format!("one for {count}"),
            None => "something else".to_owned(),
        };
        Err(fault(expected, found).into())
    }

    fn word(&mut self) -> Result<[u8; 4], Trouble> {
        let mut word = [0; 4];
        let read = self.source.read_exact(&mut word);
        read.map(|()| word).map_err(|error| self.broken(error))
    }

    fn add(&mut self, block: &mut Block, length: usize) -> Result<(), Trouble> {
        block.add(&mut self.source, length).map_err(|error| self.broken(error))
    }

    fn broken(&self, error: io::Error) -> Trouble {
        if error.kind() == ErrorKind::UnexpectedEof {
            return fault("a whole Arrow file", format!("its end {}", self.place())).into();
        }
        Trouble::Bytes(error)
    }

    fn place(&self) -> String {
        match self.given_out {
            0 => "before the first batch".to_owned(),
            batch => format!("after batch {batch}"),
        }
    }
}

fn message(block: &Block, length: usize) -> Result<ipc::MessageRef<'_>, Fault> {
    ipc::MessageRef::read_as_root(&block.text()[..length]).map_err(unsound)
}

/// The number of batches in the footer, if the bytes after the last batch are a footer.
fn batches_in_footer(end: &[u8]) -> ipc::planus::Result<Option<u64>> {
    let Some((footer, length)) =
        end.strip_suffix(MAGIC_AT_END).and_then(|end| end.split_last_chunk::<4>())
    else {
        return Ok(None);
    };
    let padding = footer.len().checked_sub(u32::from_le_bytes(*length) as usize);
    let Some(padding) = padding.filter(|&padding| padding < ALIGNMENT.max(MOST_PADDING)) else {
        return Ok(None);
    };
    let blocks = ipc::FooterRef::read_as_root(&footer[padding..])?.record_batches()?;
    Ok(Some(blocks.map_or(0, |blocks| blocks.len() as u64)))
}
