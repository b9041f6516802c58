//! Small Arrow tables, and what all Arrow tables have in common.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchIterator, StringArray};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::column::Column;
use crate::failure::Failure;
use crate::interpreter::called;

/// The keys of a column of labels, one per row and -1 for a missing value, and the label of each key.
pub(crate) type Labels = (Vec<i32>, Vec<String>);

/// The schema of a batch, for other tools.
pub(crate) fn schema_capsule<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(batch.schema().as_ref());
    let schema = schema.map_err(|error| Failure::Value(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// The batch as an Arrow stream. Nothing is copied; the batch is shared and counted.
pub(crate) fn stream_capsule<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = RecordBatchIterator::new([Ok(batch.clone())], batch.schema());
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
}

/// The names of the columns, and whether each is a column of labels.
pub(crate) fn columns_of(batch: &RecordBatch) -> Vec<(String, bool)> {
    let schema = batch.schema();
    let is_label = |kind: &DataType| matches!(kind, DataType::Dictionary(..));
    schema.fields().iter().map(|field| (field.name().clone(), is_label(field.data_type()))).collect()
}

/// A column of numbers, or of marks.
pub(crate) fn column_of(batch: &RecordBatch, name: &str) -> Result<Column, Failure> {
    let column = batch.column_by_name(name).and_then(Column::of);
    column.ok_or_else(|| Failure::Unknown(format!("there is no column of numbers {name:?}")))
}

/// A column of labels.
pub(crate) fn labels_of(batch: &RecordBatch, name: &str) -> Result<Labels, Failure> {
    let column = batch.column_by_name(name);
    let labels = column.and_then(|column| column.as_any().downcast_ref::<DictionaryArray<Int32Type>>());
    let values = labels.and_then(|labels| labels.values().as_any().downcast_ref::<StringArray>());
    match (labels, values) {
        (Some(labels), Some(values)) => {
            let values = values.iter().flatten().map(str::to_string).collect();
            Ok((labels.keys().iter().map(|key| key.unwrap_or(-1)).collect(), values))
        }
        _ => Err(Failure::Unknown(format!("there is no column of labels {name:?}"))),
    }
}

/// An immutable Arrow table of one batch.
#[pyclass(module = "calibandit._core", name = "Frame", frozen)]
pub(crate) struct PyFrame(RecordBatch);

impl PyFrame {
    /// The table of these columns. Columns with missing values are nullable.
    pub(crate) fn new(columns: Vec<(&'static str, ArrayRef)>) -> Result<Self, Failure> {
        let field = |(name, column): &(&'static str, ArrayRef)| {
            Field::new(*name, column.data_type().clone(), column.null_count() > 0)
        };
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(schema.into(), columns);
        batch.map(Self).map_err(|error| Failure::Value(error.to_string()))
    }
}

#[pymethods]
impl PyFrame {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.0)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol does not require a cast to the requested schema.
        let _ = requested_schema;
        stream_capsule(py, &self.0)
    }

    /// The names of the columns, and whether each is a column of labels.
    fn columns(&self) -> Vec<(String, bool)> {
        columns_of(&self.0)
    }

    /// A column of numbers, or of marks.
    fn column(&self, name: &str) -> Result<Column, Failure> {
        called(|| column_of(&self.0, name))
    }

    /// A column of labels: one key per row, -1 for a missing value, and the label of each key.
    fn labels(&self, name: &str) -> Result<Labels, Failure> {
        called(|| labels_of(&self.0, name))
    }
}
