//! Columns that NumPy reads without copying.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt8Type};
use arrow_array::{Array, ArrayRef, Float64Array, UInt8Array};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An immutable column: signed whole numbers, floating-point numbers, or marks (one byte each, 0 or 1). It lives as
/// long as any array that shares its memory, because `numpy.asarray` keeps a reference to it.
#[pyclass(module = "calibandit._core", frozen)]
pub(crate) struct Column(ArrayRef);

impl Column {
    pub(crate) fn floats(values: Vec<f64>) -> Self {
        Self(Arc::new(Float64Array::from(values)))
    }

    /// A column of a table. NumPy has no missing values: a column that has some becomes floating-point numbers with
    /// NaN. `None` if it is not a column of numbers or marks.
    pub(crate) fn of(column: &ArrayRef) -> Option<Self> {
        let missing = column.null_count() > 0;
        match column.data_type() {
            DataType::Float64 if missing => {
                let values = column.as_primitive::<Float64Type>().iter();
                Some(Self::floats(values.map(|value| value.unwrap_or(f64::NAN)).collect()))
            }
            DataType::Int64 if missing => {
                let values = column.as_primitive::<Int64Type>().iter();
                Some(Self::floats(values.map(|value| value.map_or(f64::NAN, |value| value as f64)).collect()))
            }
            DataType::Float64 | DataType::Int64 => Some(Self(column.clone())),
            // Arrow packs eight marks into a byte, NumPy does not.
            DataType::Boolean => {
                let marks = column.as_boolean().iter().map(|mark| Some(u8::from(mark == Some(true))));
                Some(Self(Arc::new(marks.collect::<UInt8Array>())))
            }
            _ => None,
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// NumPy's array interface, version 3: an address, read-only.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (address, kind) = match self.0.data_type() {
            DataType::Float64 => (self.0.as_primitive::<Float64Type>().values().as_ptr().addr(), "f8"),
            DataType::UInt8 => (self.0.as_primitive::<UInt8Type>().values().as_ptr().addr(), "b1"),
            _ => (self.0.as_primitive::<Int64Type>().values().as_ptr().addr(), "i8"),
        };
        let order = if cfg!(target_endian = "little") { "<" } else { ">" };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}{kind}"))?;
        interface.set_item("shape", (self.0.len(),))?;
        interface.set_item("data", (address, true))?;
        Ok(interface)
    }
}
