//! Reads a model file. Nothing in it is trusted.

use std::fs::File;
use std::io::{BufReader, Cursor, ErrorKind, Read, Seek};
use std::path::Path;

use safetensors::tensor::Dtype;

use super::Header;
use super::checks::{check_field, check_moments};
use super::layout::{Layout, read_blocks, read_list};
use super::refusal::{Reading, Refusal, damaged, wrong};
use crate::alloc::reserved;
use crate::error::Result;
use crate::example::{Moments, Names, Scales};
use crate::learn::model::{AnyModel, Model};
use crate::learn::slim::SlimModel;
use crate::rule::Interval;
use crate::spec::Scale;

/// A model that was read from a file.
pub struct Loaded {
    /// The metadata.
    pub header: Header,
    /// The learner, or the weights of a slim file.
    pub model: AnyModel,
    /// The names, if they were kept.
    pub names: Option<Names>,
}

/// Read the metadata of a model file and not its slots. The checksum is not verified.
pub fn read_header(path: &Path) -> Result<Header> {
    open(path, |file| Ok(Layout::read(file)?.header))
}

/// Read a model file.
pub fn load(path: &Path) -> Result<Loaded> {
    open(path, read)
}

/// Read a model from the bytes of a model file; `name` is used in errors.
pub fn load_bytes(bytes: &[u8], name: &str) -> Result<Loaded> {
    read(&mut Cursor::new(bytes)).map_err(|refusal| refusal.of_file(name))
}

fn open<T>(path: &Path, read: impl Fn(&mut BufReader<File>) -> Reading<T>) -> Result<T> {
    let file = File::open(path).and_then(|file| match file.metadata()?.is_dir() {
        true => Err(ErrorKind::IsADirectory.into()),
        false => Ok(file),
    });
    let file = file.map_err(|error| Refusal::File(format!("cannot be opened: {error}")));
    file.and_then(|file| read(&mut BufReader::with_capacity(1 << 20, file)))
        .map_err(|refusal| refusal.of_file(&path.display().to_string()))
}

/// Read a model from any bytes.
pub(super) fn read<F: Read + Seek>(file: &mut F) -> Reading<Loaded> {
    let layout = Layout::read(file)?;
    layout.verify(file)?;
    let slots = read_slots(file, &layout)?;
    let model = match layout.header.slim {
        true => AnyModel::Slim(read_slim(file, &layout, &slots)?),
        false => AnyModel::Learner(read_learner(file, &layout, &slots)?),
    };
    let names = read_names(file, &layout, &slots)?;
    Ok(Loaded { header: layout.header, model, names })
}

fn read_learner<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
) -> Reading<Box<dyn Model>> {
    let intervals = read_boxes(file, layout)?;
    let Header { spec, shared, tally, .. } = &layout.header;
    let mut model = spec.build(intervals)?;
    model.restore(shared.clone(), *tally).map_err(|error| damaged(&error))?;
    model.make_room(slots)?;
    let (lanes, width) = (model.lanes(), model.width());
    layout.has_only(&known_tensors(&layout.header, model.fields()))?;
    for (field, name) in model.fields().iter().enumerate() {
        let place = layout.place_lanes(name, Dtype::F32, slots.len(), lanes)?;
        read_blocks(file, place, lanes, f32::from_le_bytes, |rows, floats| {
            check_field(name, &slots[rows.clone()], floats)?;
            model.restore_field(field, &slots[rows], floats);
            Ok(())
        })?;
    }
    if spec.certify {
        let place = layout.place_lanes("gradient_sum", Dtype::F64, slots.len(), width)?;
        read_blocks(file, place, width, f64::from_le_bytes, |rows, sums| {
            check_field("gradient_sum", &slots[rows.clone()], sums)?;
            model.restore_gradient_sums(&slots[rows], sums);
            Ok(())
        })?;
    }
    if !model.fields().contains(&"weight") {
        check_derived_weights(file, layout, width)?;
    }
    read_scales(file, layout, slots, model.scales_mut())?;
    Ok(model)
}

/// The names of all tensors that a file with this header can have.
fn known_tensors(header: &Header, fields: &[&'static str]) -> Vec<&'static str> {
    let mut known = [fields, &["slot"]].concat();
    if header.spec.certify && !header.slim {
        known.push("gradient_sum");
    }
    match header.spec.space.scale {
        Scale::None => {}
        Scale::Cap | Scale::Full => known.push("scale"),
        Scale::Standard => known.extend(MOMENTS),
    }
    if header.boxes {
        known.extend(["low", "high"]);
    }
    if header.names {
        known.extend(["names", "collided"]);
    }
    if !fields.contains(&"weight") {
        known.extend(["weight_slot", "weight"]);
    }
    known
}

/// Check the weights that are there for other readers; the model makes its own from the slots.
fn check_derived_weights<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    width: usize,
) -> Reading<()> {
    let slots = read_ascending(file, layout, "weight_slot", None)?;
    let place = layout.place_lanes("weight", Dtype::F32, slots.len(), width)?;
    read_blocks(file, place, width, f32::from_le_bytes, |rows, weights| {
        check_field("weight", &slots[rows], weights)
    })
}

fn read_slim<F: Read + Seek>(file: &mut F, layout: &Layout, slots: &[u32]) -> Reading<SlimModel> {
    let Header { spec, tally, .. } = &layout.header;
    let mut model = spec.build_slim(*tally)?;
    layout.has_only(&known_tensors(&layout.header, &["weight"]))?;
    let place = layout.place("weight", Dtype::F32, Some(slots.len()))?;
    read_blocks(file, place, 1, f32::from_le_bytes, |rows, weights| {
        check_field("weight", &slots[rows.clone()], weights)?;
        model.restore_weights(&slots[rows], weights);
        Ok(())
    })?;
    read_scales(file, layout, slots, model.scales_mut())?;
    Ok(model)
}

fn read_scales<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
    scales: &mut Scales,
) -> Reading<()> {
    let kind = layout.header.spec.space.scale;
    if let (Some(labels), Some(statistics)) = (scales.labels_mut(), layout.header.labels) {
        labels.restore(statistics);
    }
    if kind == Scale::Standard {
        return read_moments(file, layout, slots, scales);
    }
    let Some(scales) = scales.largest() else { return Ok(()) };
    if kind == Scale::Cap && !layout.has("scale") {
        return Ok(());
    }
    let place = layout.place("scale", Dtype::F32, Some(slots.len()))?;
    read_list(file, place, f32::from_le_bytes, |k, largest| {
        // A slim file has the weights of slots that were never met, if their box excludes 0.
        if layout.header.slim && kind == Scale::Full && largest == 0.0 {
            return Ok(());
        }
        Ok(scales.set(slots[k] as usize, largest)?)
    })
}

/// The tensors of the statistics of values.
const MOMENTS: [&str; 3] = ["count", "mean", "squares"];

fn read_moments<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
    scales: &mut Scales,
) -> Reading<()> {
    let Some(scales) = scales.standard() else { return Ok(()) };
    let tally = &layout.header.tally;
    let mut moments = Vec::new();
    // A run whose values were all 1 has no statistics, unless a feature was in every example.
    if MOMENTS.iter().any(|name| layout.has(name)) {
        moments = reserved(slots.len())?;
        moments.resize(slots.len(), Moments::default());
        for (name, field) in MOMENTS.into_iter().zip(MOMENT_FIELDS) {
            let place = layout.place(name, Dtype::F64, Some(slots.len()))?;
            read_list(file, place, f64::from_le_bytes, |k, number| {
                *field(&mut moments[k]) = number;
                Ok(())
            })?;
        }
    }
    check_moments(slots, &moments, tally)?;
    Ok(scales.restore(tally.rounds, slots, &moments)?)
}

const MOMENT_FIELDS: [fn(&mut Moments) -> &mut f64; 3] =
    [|moments| &mut moments.count, |moments| &mut moments.mean, |moments| &mut moments.squares];

fn read_slots<F: Read + Seek>(file: &mut F, layout: &Layout) -> Reading<Vec<u32>> {
    let touched = layout.header.touched;
    let touched = usize::try_from(touched).map_err(|_| wrong("touched", touched, "fewer slots"))?;
    read_ascending(file, layout, "slot", Some(touched))
}

/// Read a list of slots. Its memory is no more than its length in the file.
fn read_ascending<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    name: &str,
    length: Option<usize>,
) -> Reading<Vec<u32>> {
    let total = layout.header.spec.space.slots();
    let place = layout.place(name, Dtype::U32, length)?;
    let mut slots: Vec<u32> = reserved(place.1)?;
    read_list(file, place, u32::from_le_bytes, |k, slot| {
        let least = slots.last().map_or(0, |&last| last as usize + 1);
        if !(least..total).contains(&(slot as usize)) {
            let expected = format!("a slot from {least} up and below {total}");
            return Err(wrong(&format!("{name}[{k}]"), slot, &expected));
        }
        slots.push(slot);
        Ok(())
    })?;
    Ok(slots)
}

fn read_boxes<F: Read + Seek>(file: &mut F, layout: &Layout) -> Reading<Option<Vec<Interval>>> {
    if !layout.header.boxes {
        return Ok(None);
    }
    let total = layout.header.spec.space.slots();
    let low = layout.place("low", Dtype::F32, Some(total))?;
    let mut intervals = reserved(total)?;
    read_list(file, low, f32::from_le_bytes, |_, low| {
        intervals.push(Interval { low, high: low });
        Ok(())
    })?;
    let high = layout.place("high", Dtype::F32, Some(total))?;
    read_list(file, high, f32::from_le_bytes, |k, high| {
        intervals[k].high = high;
        Ok(())
    })?;
    Ok(Some(intervals))
}

fn read_names<F: Read + Seek>(
    file: &mut F,
    layout: &Layout,
    slots: &[u32],
) -> Reading<Option<Names>> {
    if !layout.header.names {
        return Ok(None);
    }
    let byte = |[byte]: [u8; 1]| byte;
    let place = layout.place("names", Dtype::U8, None)?;
    let mut text = reserved(place.1)?;
    read_list(file, place, byte, |_, byte| {
        text.push(byte);
        Ok(())
    })?;
    let mut names = Names::default();
    let mut lines = text.split_inclusive(|&byte| byte == b'\n');
    let place = layout.place("collided", Dtype::U8, Some(slots.len()))?;
    read_list(file, place, byte, |k, collided| {
        let line = lines.next().and_then(|line| line.strip_suffix(b"\n"));
        let name = line.ok_or_else(|| damaged("names are missing"))?;
        if collided > 1 || (collided == 1 && name.is_empty()) {
            return Err(wrong(&format!("collided[{k}]"), collided, "0, or 1 beside a name"));
        }
        if !name.is_empty() {
            names.insert(slots[k], name, collided != 0);
        }
        Ok(())
    })?;
    match lines.next() {
        None => Ok(Some(names)),
        Some(_) => Err(damaged("it has more names than slots")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error as IoError, Result as IoResult, SeekFrom};

    use super::super::{Snapshot, to_bytes};
    use super::*;
    use crate::error::Error;
    use crate::spec::Spec;

    /// A file whose read number `at`, from 1, fails, ends or is interrupted; all others are short.
    struct Faulty {
        bytes: Cursor<Vec<u8>>,
        at: usize,
        reads: usize,
        outcome: fn() -> IoResult<usize>,
    }

    impl Read for Faulty {
        fn read(&mut self, scratch: &mut [u8]) -> IoResult<usize> {
            self.reads += 1;
            if self.reads == self.at {
                return (self.outcome)();
            }
            let count = scratch.len().min(50);
            self.bytes.read(&mut scratch[..count])
        }
    }

    impl Seek for Faulty {
        fn seek(&mut self, place: SeekFrom) -> IoResult<u64> {
            self.bytes.seek(place)
        }
    }

    /// What is said of the file with a fault; none if it is loaded.
    fn told(file: &[u8], at: usize, outcome: fn() -> IoResult<usize>) -> (Option<String>, bool) {
        let mut file = Faulty { bytes: Cursor::new(file.to_vec()), at, reads: 0, outcome };
        let refusal = read(&mut file).err().map(|refusal| refusal.of_file("m").to_string());
        (refusal, file.reads >= at)
    }

    #[test]
    fn every_read_may_fail_end_or_be_interrupted() -> Result<()> {
        let rule = r#"{"name":"per-coordinate","rate":0.5,"radius":9.0,"box":null}"#;
        let rest = r#""table":{"bits":4},"intercept":false,"certify":true"#;
        let spec = Spec::parse(&format!(r#"{{"loss":"hinge","rule":{rule},{rest}}}"#))?;
        let mut model = spec.build(None)?;
        let mut chunk = crate::example::Chunk::new(None);
        chunk.extend(&[2, 9], &[1.0, 0.5]);
        chunk.finish(1.0, 1.0, b"");
        model.learn((&chunk).into(), &mut Vec::new())?;
        let snapshot =
            Snapshot { spec: &spec, model: &*model, skipped: 0, names: None, slim: false };
        let file = to_bytes(snapshot).expect("memory can be written to");
        let mut faults = 0;
        for at in 1.. {
            let (failed, met) = told(&file, at, || Err(IoError::other("the disk is gone")));
            if !met {
                break;
            }
            let failed = failed.unwrap_or_default();
            assert!(failed.starts_with("m: cannot be read after byte "), "{at}: {failed}");
            let (ended, _) = told(&file, at, || Ok(0));
            let ended = ended.unwrap_or_default();
            assert!(ended.contains("it was cut while it was read, after byte "), "{at}: {ended}");
            assert_eq!(told(&file, at, || Err(ErrorKind::Interrupted.into())), (None, true));
            faults += 3;
        }
        eprintln!("{faults} reads failed, ended or were interrupted");
        assert!(faults > 60, "{faults}");
        Ok(())
    }

    #[test]
    fn a_model_without_memory_is_not_called_damaged() {
        let told = Refusal::from(Error::Memory("5 slots".into())).of_file("m");
        assert_eq!(told, Error::Memory("m: 5 slots".into()));
    }
}
