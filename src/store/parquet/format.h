/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of the Parquet format and of Thrift's compact protocol, for reading and writing such
 * files.
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

/* The older way to describe a column's values. */
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

/* … and the unit of a timestamp. */
enum pq_unit { PQ_MILLIS = 1, PQ_MICROS = 2, PQ_NANOS = 3 };

/* Numbers of the fields of Thrift's structs, those of parquet.thrift. */
enum pq_file_field {
	PQ_FILE_VERSION = 1,
	PQ_FILE_SCHEMA = 2,
	PQ_FILE_ROWS = 3,
	PQ_FILE_GROUPS = 4,
	PQ_FILE_PAIRS = 5,
	PQ_FILE_CREATED_BY = 6,
	PQ_FILE_COLUMN_ORDERS = 7,
};

enum pq_pair_field { PQ_PAIR_KEY = 1, PQ_PAIR_VALUE = 2 };

enum pq_order_field { PQ_ORDER_BY_TYPE = 1 };

enum pq_schema_field {
	PQ_SCHEMA_TYPE = 1,
	PQ_SCHEMA_REPETITION = 3,
	PQ_SCHEMA_NAME = 4,
	PQ_SCHEMA_CHILDREN = 5,
	PQ_SCHEMA_CONVERTED = 6,
	PQ_SCHEMA_SCALE = 7,
	PQ_SCHEMA_LOGICAL = 10,
};

enum pq_integer_field { PQ_INTEGER_BITS = 1, PQ_INTEGER_SIGNED = 2 };

enum pq_timestamp_field { PQ_TIMESTAMP_IS_UTC = 1, PQ_TIMESTAMP_UNIT = 2 };

enum pq_group_field {
	PQ_GROUP_COLUMNS = 1,
	PQ_GROUP_RAW_BYTES = 2,
	PQ_GROUP_ROWS = 3,
	PQ_GROUP_SORTED_BY = 4,
	PQ_GROUP_OFFSET = 5,
	PQ_GROUP_BYTES = 6,
};

enum pq_sorting_field { PQ_SORTING_COLUMN = 1, PQ_SORTING_FALLS = 2, PQ_SORTING_NULLS_FIRST = 3 };

enum pq_chunk_field { PQ_CHUNK_OFFSET = 2, PQ_CHUNK_METADATA = 3 };

enum pq_chunk_metadata_field {
	PQ_COLUMN_TYPE = 1,
	PQ_COLUMN_ENCODINGS = 2,
	PQ_COLUMN_PATH = 3,
	PQ_COLUMN_CODEC = 4,
	PQ_COLUMN_VALUES = 5,
	PQ_COLUMN_RAW_BYTES = 6,
	PQ_COLUMN_BYTES = 7,
	PQ_COLUMN_DATA_OFFSET = 9,
	PQ_COLUMN_DICT_OFFSET = 11,
	PQ_COLUMN_STATISTICS = 12,
};

enum pq_statistics_field {
	PQ_STATISTICS_OLD_MAX = 1,
	PQ_STATISTICS_OLD_MIN = 2,
	PQ_STATISTICS_NULLS = 3,
	PQ_STATISTICS_MAX = 5,
	PQ_STATISTICS_MIN = 6,
};

enum pq_page_field {
	PQ_PAGE_TYPE = 1,
	PQ_PAGE_RAW_BYTES = 2,
	PQ_PAGE_BYTES = 3,
	PQ_PAGE_CHECKSUM = 4,
	PQ_PAGE_DATA_HEAD = 5,
	PQ_PAGE_DICT_HEAD = 7,
};

/* Of both kinds of heads; that of a dictionary has the first two. */
enum pq_page_head_field {
	PQ_HEAD_VALUES = 1,
	PQ_HEAD_ENCODING = 2,
	PQ_HEAD_DEFINITION_LEVELS = 3,
	PQ_HEAD_REPETITION_LEVELS = 4,
};

/* The system of the event of a table of records: a key in the footer of files that spur writes. */
#define PQ_KEY_SYSTEM "spur.system"

#endif
