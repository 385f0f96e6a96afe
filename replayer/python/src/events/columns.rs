//! The columns of events.

use std::sync::{Arc, LazyLock};

use arrow_array::builder::{
    Float64Builder, Int32Builder, ListBuilder, StringDictionaryBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use titr_common::event::Rank;
use titr_common::trace::Location;

use super::row::Row;

/// Columns to which rows are appended.
#[derive(Default)]
pub(super) struct EventColumns {
    rows: usize,
    rank: UInt32Builder,
    thread: UInt32Builder,
    line: UInt64Builder,
    kind: StringDictionaryBuilder<Int32Type>,
    peer: UInt32Builder,
    source: UInt32Builder,
    tag: Int32Builder,
    bytes: UInt64Builder,
    received: UInt64Builder,
    volume: Float64Builder,
    seconds: Float64Builder,
    communicator: UInt32Builder,
    requests: ListBuilder<UInt32Builder>,
    begin: UInt64Builder,
    end: UInt64Builder,
    name: StringDictionaryBuilder<Int32Type>,
}

/// The names and types of the columns.
pub(super) fn schema() -> SchemaRef {
    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
        let words = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        let numbers = DataType::List(Arc::new(Field::new_list_field(DataType::UInt32, true)));
        Arc::new(Schema::new(vec![
            Field::new("rank", DataType::UInt32, false),
            Field::new("thread", DataType::UInt32, false),
            Field::new("line", DataType::UInt64, true),
            Field::new("kind", words(), false),
            Field::new("peer", DataType::UInt32, true),
            Field::new("source", DataType::UInt32, true),
            Field::new("tag", DataType::Int32, true),
            Field::new("bytes", DataType::UInt64, true),
            Field::new("received", DataType::UInt64, true),
            Field::new("volume", DataType::Float64, true),
            Field::new("seconds", DataType::Float64, true),
            Field::new("communicator", DataType::UInt32, true),
            Field::new("requests", numbers, true),
            Field::new("begin", DataType::UInt64, true),
            Field::new("end", DataType::UInt64, true),
            Field::new("name", words(), true),
        ]))
    });
    Arc::clone(&SCHEMA)
}

impl EventColumns {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Appends a row.
    #[inline]
    pub(super) fn push(&mut self, rank: Rank, location: Location, row: &Row<'_>) {
        self.rows += 1;
        self.rank.append_value(rank.0);
        self.thread.append_value(location.thread.0);
        self.line.append_option(location.line);
        self.kind.append_value(row.kind);
        self.peer.append_option(row.peer.map(|rank| rank.0));
        self.source.append_option(row.source.map(|rank| rank.0));
        self.tag.append_option(row.tag.map(|tag| tag.0));
        self.bytes.append_option(row.bytes.map(|bytes| bytes.0));
        self.received.append_option(row.received.map(|bytes| bytes.0));
        self.volume.append_option(row.volume.map(|work| work.0));
        self.seconds.append_option(row.seconds.map(|time| time.0));
        self.communicator.append_option(row.communicator.map(|communicator| communicator.0));
        self.requests.values().extend(row.requests.iter().map(|request| Some(request.0)));
        self.requests.append(!row.requests.is_empty());
        self.begin.append_option(row.span.map(|span| span.begin.0));
        self.end.append_option(row.span.map(|span| span.end.0));
        self.name.append_option(row.name);
    }

    /// The table of all rows. None are left.
    ///
    /// # Errors
    /// If the columns do not fit their schema.
    pub(super) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows = 0;
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.rank.finish()),
            Arc::new(self.thread.finish()),
            Arc::new(self.line.finish()),
            Arc::new(self.kind.finish()),
            Arc::new(self.peer.finish()),
            Arc::new(self.source.finish()),
            Arc::new(self.tag.finish()),
            Arc::new(self.bytes.finish()),
            Arc::new(self.received.finish()),
            Arc::new(self.volume.finish()),
            Arc::new(self.seconds.finish()),
            Arc::new(self.communicator.finish()),
            Arc::new(self.requests.finish()),
            Arc::new(self.begin.finish()),
            Arc::new(self.end.finish()),
            Arc::new(self.name.finish()),
        ];
        RecordBatch::try_new(schema(), columns)
    }
}
