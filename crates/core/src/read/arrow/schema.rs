//! The columns of an Arrow file of examples, and the check that a file has them.

use polars_arrow_format::ipc;
use polars_arrow_format::ipc::planus;

use super::{fault, pair, unsound, value_of};
use crate::read::format::Fault;
use crate::spec::{MAX_BITS, Namespaces, Table};

/// The version of the file format that this code writes and reads.
const FORMAT: &str = "1";
const FORMAT_KEY: &str = "lessregret.format";
const BITS_KEY: &str = "lessregret.bits";
/// The namespaces that were read and crossed, as JSON; absent if all were read and none was crossed.
const NAMESPACES_KEY: &str = "lessregret.namespaces";
const WRITER_KEY: &str = "lessregret.version";
/// The names of the columns and their types, as used in error messages.
const COLUMNS: [(&str, &str); 5] = [
    ("label", "float32"),
    ("importance", "float32"),
    ("slots", "list<uint32>"),
    ("values", "list<float32>"),
    ("tag", "binary"),
];

/// What the examples of a file are: what a reader must know of its feature space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The number of bits of a slot.
    pub bits: u32,
    /// The CRC-32 of the JSON form of the namespaces; 0 if there are none.
    pub namespaces: u32,
}

/// The CRC-32 of the JSON form of namespaces; 0 if there are none.
pub fn namespaces_checksum(namespaces: Option<&Namespaces>) -> u32 {
    namespaces.map_or(0, |namespaces| crc32fast::hash(written(namespaces).as_bytes()))
}

fn written(namespaces: &Namespaces) -> String {
    // A document of strings can be written.
    serde_json::to_string(namespaces).unwrap_or_default()
}

/// The schema of a file for this feature space, with slots of this many bits.
pub fn schema(bits: u32, namespaces: Option<&Namespaces>) -> ipc::Schema {
    let list = || ipc::Type::List(Box::default());
    let slot = field("item", false, uint32(), None);
    let value = field("item", false, float32(), None);
    ipc::Schema {
        endianness: ipc::Endianness::Little,
        fields: Some(vec![
            field("label", true, float32(), None),
            field("importance", false, float32(), None),
            field("slots", false, list(), Some(slot)),
            field("values", false, list(), Some(value)),
            field("tag", false, ipc::Type::Binary(Box::default()), None),
        ]),
        custom_metadata: Some(metadata(bits, namespaces)),
        features: None,
    }
}

fn metadata(bits: u32, namespaces: Option<&Namespaces>) -> Vec<ipc::KeyValue> {
    let mut pairs = vec![
        pair(FORMAT_KEY, FORMAT),
        pair(BITS_KEY, bits.to_string()),
        pair(WRITER_KEY, env!("CARGO_PKG_VERSION")),
    ];
    pairs.extend(namespaces.map(|namespaces| pair(NAMESPACES_KEY, written(namespaces))));
    pairs
}

fn field(name: &str, nullable: bool, kind: ipc::Type, child: Option<ipc::Field>) -> ipc::Field {
    ipc::Field {
        name: Some(name.to_owned()),
        nullable,
        type_: Some(kind),
        dictionary: None,
        // Some readers require the list of children even if it is empty.
        children: Some(child.into_iter().collect()),
        custom_metadata: None,
    }
}

fn float32() -> ipc::Type {
    let precision = ipc::Precision::Single;
    ipc::Type::FloatingPoint(Box::new(ipc::FloatingPoint { precision }))
}

fn uint32() -> ipc::Type {
    ipc::Type::Int(Box::new(ipc::Int { bit_width: 32, is_signed: false }))
}

/// The contents of a file, if it has the columns of this format.
pub fn check(schema: ipc::SchemaRef<'_>) -> Result<Contents, Fault> {
    check_columns(schema)?;
    let get = |key| {
        let pairs = schema.custom_metadata().map_err(unsound)?;
        value_of(pairs, key).map_err(unsound)
    };
    let found = |value: Option<&str>| value.map_or("none".to_owned(), |value| format!("'{value}'"));
    let format = get(FORMAT_KEY)?;
    if format != Some(FORMAT) {
        let expected = format!("'{FORMAT}' as '{FORMAT_KEY}', as `lessregret convert` writes it,");
        return Err(fault(format!("{expected} in the schema's metadata"), found(format)));
    }
    let written = get(BITS_KEY)?;
    let namespaces = get(NAMESPACES_KEY)?.map_or(0, |text| crc32fast::hash(text.as_bytes()));
    match written.and_then(|bits| bits.parse().ok()) {
        Some(bits) if Table::Bits(bits).check().is_ok() => Ok(Contents { bits, namespaces }),
        _ => {
            let expected =
                format!("a number from 1 to {MAX_BITS} as '{BITS_KEY}' in the schema's metadata");
            Err(fault(expected, found(written)))
        }
    }
}

fn check_columns(schema: ipc::SchemaRef<'_>) -> Result<(), Fault> {
    if schema.endianness().map_err(unsound)? != ipc::Endianness::Little {
        return Err(fault("an Arrow file with the low byte first", "one with the high byte first"));
    }
    let fields = schema.fields().map_err(unsound)?;
    let mut fields = fields.into_iter().flatten();
    for (name, kind) in COLUMNS {
        let (found_name, found_kind) = match fields.next() {
            Some(field) => describe(field.map_err(unsound)?).map_err(unsound)?,
            None => {
                return Err(fault(format!("a column '{name}' of type {kind}"), "no more columns"));
            }
        };
        if (found_name, found_kind) != (name, kind) {
            let found = format!("'{found_name}' of type {found_kind}");
            return Err(fault(format!("a column '{name}' of type {kind}"), found));
        }
    }
    match fields.next() {
        Some(_) => Err(fault(format!("{} columns", COLUMNS.len()), "more")),
        None => Ok(()),
    }
}

/// The name and the type of a column.
fn describe(field: ipc::FieldRef<'_>) -> planus::Result<(&str, &'static str)> {
    let kind = match field.type_()? {
        Some(ipc::TypeRef::List(_)) => match item(field)? {
            "uint32" => "list<uint32>",
            "float32" => "list<float32>",
            _ => "list of something else",
        },
        _ => plain_type(field)?,
    };
    Ok((field.name()?.unwrap_or_default(), kind))
}

/// The type of a list's items.
fn item(field: ipc::FieldRef<'_>) -> planus::Result<&'static str> {
    match field.children()?.into_iter().flatten().next() {
        Some(child) => plain_type(child?),
        None => Ok("none"),
    }
}

fn plain_type(field: ipc::FieldRef<'_>) -> planus::Result<&'static str> {
    if field.dictionary()?.is_some() {
        return Ok("dictionary");
    }
    Ok(match field.type_()? {
        Some(ipc::TypeRef::FloatingPoint(float)) => match float.precision()? {
            ipc::Precision::Single => "float32",
            ipc::Precision::Half | ipc::Precision::Double => "another float",
        },
        Some(ipc::TypeRef::Int(int)) => match (int.bit_width()?, int.is_signed()?) {
            (32, false) => "uint32",
            _ => "another integer",
        },
        Some(ipc::TypeRef::Binary(_)) => "binary",
        Some(ipc::TypeRef::Utf8(_)) => "utf8",
        Some(ipc::TypeRef::LargeList(_)) => "large_list",
        Some(ipc::TypeRef::LargeBinary(_)) => "large_binary",
        _ => "another type",
    })
}
