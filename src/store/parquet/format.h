/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of the Parquet format and of Thrift's compact protocol, as whoever reads or writes
 * such files has to know them.
 */
#ifndef STORE_PARQUET_FORMAT_H
#define STORE_PARQUET_FORMAT_H

#define PARQUET_MAGIC	   "PAR1"
#define PARQUET_MAGIC_SIZE 4

/* Types of fields and of elements of lists. */
enum thrift_type {
	THRIFT_TRUE = 1,
	THRIFT_FALSE = 2,
	THRIFT_BYTE = 3,
	THRIFT_I16 = 4,
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_DOUBLE = 7,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_SET = 10,
	THRIFT_MAP = 11,
	THRIFT_STRUCT = 12,
};

enum pq_encoding {
	PQ_PLAIN = 0,
	PQ_PLAIN_DICTIONARY = 2, /* the older name of PQ_RLE_DICTIONARY */
	PQ_RLE = 3,
	PQ_DELTA_BINARY_PACKED = 5,
	PQ_DELTA_LENGTH_BYTE_ARRAY = 6,
	PQ_DELTA_BYTE_ARRAY = 7,
	PQ_RLE_DICTIONARY = 8,
	PQ_BYTE_STREAM_SPLIT = 9,
};

enum pq_physical {
	PQ_STORED_BOOLEAN = 0,
	PQ_STORED_INT32 = 1,
	PQ_STORED_INT64 = 2,
	PQ_STORED_INT96 = 3,
	PQ_STORED_FLOAT = 4,
	PQ_STORED_DOUBLE = 5,
	PQ_STORED_BYTES = 6,
	PQ_STORED_FIXED = 7,
};

enum pq_repetition { PQ_REQUIRED = 0, PQ_OPTIONAL = 1, PQ_REPEATED = 2 };

enum pq_codec {
	PQ_UNCOMPRESSED = 0,
	PQ_SNAPPY = 1,
	PQ_ZSTD = 6,
};

enum pq_page {
	PQ_DATA_PAGE = 0,
	PQ_INDEX_PAGE = 1,
	PQ_DICTIONARY_PAGE = 2,
	PQ_DATA_PAGE_V2 = 3,
};

/* The older way to say what a column's values are. */
enum pq_converted {
	PQ_UTF8 = 0,
	PQ_DECIMAL = 5,
	PQ_DATE = 6,
	PQ_TIMESTAMP_MILLIS = 9,
	PQ_TIMESTAMP_MICROS = 10,
	PQ_UINT_8 = 11,
	PQ_UINT_64 = 14,
};

/* Numbers of fields: the newer way, … */
enum pq_logical {
	PQ_LOGICAL_STRING = 1,
	PQ_LOGICAL_DECIMAL = 5,
	PQ_LOGICAL_DATE = 6,
	PQ_LOGICAL_TIMESTAMP = 8,
	PQ_LOGICAL_INTEGER = 10,
};

/* … and in which unit a timestamp is. */
enum pq_unit { PQ_MILLIS = 1, PQ_MICROS = 2, PQ_NANOS = 3 };

/* Whose event a table of records is about: a pair in the footer of files that spur writes. */
#define PQ_KEY_SYSTEM "spur.system"

#endif
