/* The C twins of scan_python in scan.py, one look at every record of a batch, of walk_python in
 * walk.py, where each part of each record is, and of DictMap and rebuilt_python in
 * storage/compaction/offset_map.py: which records are the newest of their key.
 *
 * What a record is stands in records.py, and which damage is which fault in scan.py; the tests hold
 * the twins to each other. Rules: no byte is read before the cursor was compared with the end, so any
 * input is safe; lengths are compared with what is left, never added to a pointer first; nothing is
 * allocated but the answer; sums wrap, so they are made of unsigned numbers.
 */
#define PY_SSIZE_T_CLEAN /* The limited API of 3.11: setup.py builds it so where that can be had. */
#include <Python.h>
#include <stdint.h>
#include <string.h>

/* Bytes of records above which other threads may run meanwhile: less is over within 0.1 to 0.5 ms,
 * and getting the GIL back from a busy thread can take ten times as long. */
#define RELEASE_GIL_ABOVE (1 << 20)
#define NO_TIMESTAMP (-1)

enum fault { OK, BROKEN, VARINT, LENGTH }; /* as scan.Fault */
enum read { READ, CUT, TOO_LONG };

typedef struct {
    const uint8_t *at;
    const uint8_t *end;
} Cursor;

typedef struct {
    enum fault fault;
    int64_t min_timestamp;
    int64_t max_timestamp;
    int32_t null_keys;
    int consecutive;
    int32_t index_of_max;
} Scan;

static const Scan NOTHING = {OK, INT64_MAX, NO_TIMESTAMP, 0, 0, 0};

static inline enum read read_varint(Cursor *cursor, int32_t *out) {
    uint32_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (cursor->at == cursor->end)
            return CUT;
        uint8_t byte = *cursor->at++;
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);
            return READ;
        }
    }
    return TOO_LONG;
}

static inline enum read read_varlong(Cursor *cursor, int64_t *out) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (cursor->at == cursor->end)
            return CUT;
        uint8_t byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
            return READ;
        }
    }
    return TOO_LONG;
}

/* Step over a length and that many bytes; 0 if they are not there. A negative length is null. */
static inline int skip(Cursor *cursor, int32_t *size) {
    if (read_varint(cursor, size) != READ)
        return 0;
    if (*size > 0) {
        if (*size > cursor->end - cursor->at)
            return 0;
        cursor->at += *size;
    }
    return 1;
}

/* Step over one record, from its attributes on, going by its contents; 0 if they are damaged. */
static inline int look(Cursor *cursor, int64_t *timestamp_delta, int32_t *offset_delta,
                       int32_t *key_size) {
    int32_t size, header_count;
    if (cursor->at == cursor->end)
        return 0;
    cursor->at++;
    if (read_varlong(cursor, timestamp_delta) != READ || read_varint(cursor, offset_delta) != READ)
        return 0;
    if (!skip(cursor, key_size) || !skip(cursor, &size))
        return 0;
    if (read_varint(cursor, &header_count) != READ)
        return 0;
    if (header_count < 0 || header_count > cursor->end - cursor->at)
        return 0;
    for (int32_t i = 0; i < header_count; i++) {
        if (!skip(cursor, &size) || size < 0 || !skip(cursor, &size))
            return 0;
    }
    return 1;
}

static Scan failed(enum fault fault) {
    Scan scan = NOTHING;
    scan.fault = fault;
    return scan;
}

static Scan scan_records(const uint8_t *payload, Py_ssize_t size, int32_t count,
                         int64_t base_timestamp) {
    Cursor cursor = {payload, payload + size};
    Scan scan = NOTHING;
    if (count < 0)
        return failed(BROKEN);
    scan.consecutive = 1;
    for (int32_t index = 0; index < count; index++) {
        int32_t record_size, offset_delta, key_size;
        int64_t timestamp_delta;
        switch (read_varint(&cursor, &record_size)) {
        case READ:
            break;
        case CUT:
            return failed(BROKEN);
        case TOO_LONG:
            return failed(scan.fault == OK ? VARINT : BROKEN);
        }
        const uint8_t *start = cursor.at;
        if (!look(&cursor, &timestamp_delta, &offset_delta, &key_size))
            return failed(BROKEN);
        if (cursor.at - start != record_size)
            scan.fault = LENGTH;
        int64_t timestamp = (int64_t)((uint64_t)base_timestamp + (uint64_t)timestamp_delta);
        if (timestamp > scan.max_timestamp) {
            scan.max_timestamp = timestamp;
            scan.index_of_max = index;
        }
        if (timestamp < scan.min_timestamp && timestamp != NO_TIMESTAMP)
            scan.min_timestamp = timestamp;
        scan.null_keys += key_size < 0;
        scan.consecutive &= offset_delta == index;
    }
    return cursor.at == cursor.end ? scan : failed(BROKEN);
}

static PyObject *scan(PyObject *module, PyObject *args) {
    Py_buffer payload;
    int count;
    long long base_timestamp;
    Scan found;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*iL:scan", &payload, &count, &base_timestamp))
        return NULL;
    if (payload.len > RELEASE_GIL_ABOVE) {
        Py_BEGIN_ALLOW_THREADS
        found = scan_records(payload.buf, payload.len, count, base_timestamp);
        Py_END_ALLOW_THREADS
    } else {
        found = scan_records(payload.buf, payload.len, count, base_timestamp);
    }
    PyBuffer_Release(&payload);
    return Py_BuildValue("iLLiNi", (int)found.fault, (long long)found.min_timestamp,
                         (long long)found.max_timestamp, (int)found.null_keys,
                         PyBool_FromLong(found.consecutive), (int)found.index_of_max);
}

/* Where everything is: the rows of walk.py. */

enum { RECORD_FIELDS = 8, HEADER_FIELDS = 4 };

typedef struct {
    uint8_t *rows; /* written by memcpy, for a buffer may begin anywhere */
    Py_ssize_t capacity, count;
} Rows;

static inline void add_row(Rows *rows, const int64_t *fields, int width) {
    const size_t size = (size_t)width * sizeof(int64_t);
    if (rows->count < rows->capacity)
        memcpy(rows->rows + (size_t)rows->count * size, fields, size);
    rows->count++;
}

/* Step over a length and that many bytes, and say where those are; 0 if they are not there. */
static inline int find(Cursor *cursor, const uint8_t *begin, int64_t *place) {
    int32_t size;
    if (read_varint(cursor, &size) != READ)
        return 0;
    place[0] = cursor->at - begin;
    place[1] = size < 0 ? -1 : size;
    if (size > 0) {
        if (size > cursor->end - cursor->at)
            return 0;
        cursor->at += size;
    }
    return 1;
}

static int walk_record(Cursor *cursor, const uint8_t *begin, int64_t base, Rows *records,
                       Rows *headers) {
    int32_t size, offset_delta, header_count;
    int64_t row[RECORD_FIELDS], header[HEADER_FIELDS];
    if (read_varint(cursor, &size) != READ || size < 1 || size > cursor->end - cursor->at)
        return 0;
    Cursor inner = {cursor->at + 1, cursor->at + size};
    if (read_varlong(&inner, &row[4]) != READ || read_varint(&inner, &offset_delta) != READ)
        return 0;
    if (!find(&inner, begin, &row[0]) || !find(&inner, begin, &row[2]))
        return 0;
    if (read_varint(&inner, &header_count) != READ)
        return 0;
    if (header_count < 0 || header_count > inner.end - inner.at)
        return 0;
    row[0] += base;
    row[2] += base;
    row[5] = offset_delta;
    row[6] = inner.at - begin + base;
    row[7] = header_count;
    add_row(records, row, RECORD_FIELDS);
    for (int32_t i = 0; i < header_count; i++) {
        if (!find(&inner, begin, &header[0]) || header[1] < 0 || !find(&inner, begin, &header[2]))
            return 0;
        header[0] += base;
        header[2] += base;
        add_row(headers, header, HEADER_FIELDS);
    }
    cursor->at = inner.end;
    return inner.at == inner.end;
}

static int walk_records(const Py_buffer *payload, int count, int64_t base, Rows *records,
                        Rows *headers) {
    const uint8_t *begin = payload->buf;
    Cursor cursor = {begin, begin + payload->len};
    for (int index = 0; index < count; index++)
        if (!walk_record(&cursor, begin, base, records, headers))
            return 0;
    return cursor.at == cursor.end;
}

static PyObject *walk(PyObject *module, PyObject *args) {
    Py_buffer payload, records, headers;
    int count, whole = 0;
    long long base;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*iLw*w*:walk", &payload, &count, &base, &records, &headers))
        return NULL;
    Rows found = {records.buf, records.len / (RECORD_FIELDS * (Py_ssize_t)sizeof(int64_t)), 0};
    Rows their = {headers.buf, headers.len / (HEADER_FIELDS * (Py_ssize_t)sizeof(int64_t)), 0};
    if (count > found.capacity) {
        PyErr_SetString(PyExc_ValueError, "fewer rows than records");
    } else if (payload.len > RELEASE_GIL_ABOVE) {
        Py_BEGIN_ALLOW_THREADS
        whole = count >= 0 && walk_records(&payload, count, base, &found, &their);
        Py_END_ALLOW_THREADS
    } else {
        whole = count >= 0 && walk_records(&payload, count, base, &found, &their);
    }
    const int failed = count > found.capacity;
    PyBuffer_Release(&payload);
    PyBuffer_Release(&records);
    PyBuffer_Release(&headers);
    return failed ? NULL : PyLong_FromSsize_t(whole ? their.count : -1);
}

/* Compaction. The table has slots of SLOT_BYTES, empty ones all zeros, and always an empty one. */

typedef struct {
    uint64_t hash[2];
    int64_t offset_and_one;
} Slot;

typedef struct {
    const uint8_t *begin; /* of the record, its length included */
    const uint8_t *rest;  /* after the time delta */
    const uint8_t *key;
    int64_t timestamp_delta;
    int32_t offset_delta, key_size, value_size;
} Record;

/* Read the record at the cursor by its length; 0 if it is damaged. Headers are not looked at. */
static inline int next_record(Cursor *cursor, Record *record) {
    int32_t size;
    record->begin = cursor->at;
    if (read_varint(cursor, &size) != READ || size < 1 || size > cursor->end - cursor->at)
        return 0;
    Cursor inner = {cursor->at + 1, cursor->at + size};
    if (read_varlong(&inner, &record->timestamp_delta) != READ)
        return 0;
    record->rest = inner.at;
    if (read_varint(&inner, &record->offset_delta) != READ ||
        read_varint(&inner, &record->key_size) != READ)
        return 0;
    record->key = inner.at;
    if (record->key_size > 0) {
        if (record->key_size > inner.end - inner.at)
            return 0;
        inner.at += record->key_size;
    }
    if (read_varint(&inner, &record->value_size) != READ)
        return 0;
    if ((record->value_size > 0 ? record->value_size : 0) >= inner.end - inner.at)
        return 0;
    cursor->at = inner.end;
    return 1;
}

static inline uint64_t rotated(uint64_t value, int bits) {
    return value << bits | value >> (64 - bits);
}

static inline void sip_rounds(uint64_t v[4], int count) {
    while (count--) {
        v[0] += v[1], v[1] = rotated(v[1], 13) ^ v[0], v[0] = rotated(v[0], 32);
        v[2] += v[3], v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotated(v[1], 17) ^ v[2], v[2] = rotated(v[2], 32);
    }
}

static inline uint64_t little_endian(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    while (count--)
        value = value << 8 | bytes[count];
    return value;
}

/* SipHash-2-4 with 128 bits, of Aumasson and Bernstein. */
static inline void sip_hash(const uint8_t *bytes, uint64_t size, const uint64_t seed[2],
                            uint64_t out[2]) {
    uint64_t v[4] = {seed[0] ^ 0x736f6d6570736575u, seed[1] ^ 0x646f72616e646f6du ^ 0xee,
                     seed[0] ^ 0x6c7967656e657261u, seed[1] ^ 0x7465646279746573u};
    uint64_t last = size << 56;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word = little_endian(bytes, 8);
        v[3] ^= word;
        sip_rounds(v, 2);
        v[0] ^= word;
    }
    last |= little_endian(bytes, (int)size);
    v[3] ^= last;
    sip_rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xee;
    sip_rounds(v, 4);
    out[0] = v[0] ^ v[1] ^ v[2] ^ v[3];
    v[1] ^= 0xdd;
    sip_rounds(v, 4);
    out[1] = v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot with this hash, or the empty one where it belongs. */
static inline Slot *slot_of(Slot *table, uint64_t slots, const uint64_t hash[2]) {
    uint64_t index = hash[0] % slots;
    while (table[index].offset_and_one &&
           (table[index].hash[0] != hash[0] || table[index].hash[1] != hash[1]))
        index = index + 1 < slots ? index + 1 : 0;
    return &table[index];
}

static inline Slot *slot_of_key(const Py_buffer *table, const Py_buffer *seed,
                                const Record *record, uint64_t hash[2]) {
    const uint64_t words[2] = {little_endian(seed->buf, 8),
                               little_endian((const uint8_t *)seed->buf + 8, 8)};
    sip_hash(record->key, (uint64_t)record->key_size, words, hash);
    return slot_of(table->buf, (uint64_t)table->len / sizeof(Slot), hash);
}

static int are_table_and_seed(const Py_buffer *table, const Py_buffer *seed) {
    if (table->len >= (Py_ssize_t)sizeof(Slot) && seed->len == 16)
        return 1;
    PyErr_SetString(PyExc_ValueError, "a table of at least one slot and a seed of 16 bytes");
    return 0;
}

static PyObject *add_keys(PyObject *module, PyObject *args) {
    Py_buffer payload, table, seed;
    int count, full = 0, damaged = 0;
    long long base_offset, start, keys, keys_max, last = -1;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*iLLw*y*LL:add_keys", &payload, &count, &base_offset, &start,
                          &table, &seed, &keys, &keys_max))
        return NULL;
    PyObject *answer = NULL;
    if (are_table_and_seed(&table, &seed)) {
        long long slots = table.len / (Py_ssize_t)sizeof(Slot);
        Cursor cursor = {payload.buf, (const uint8_t *)payload.buf + payload.len};
        Py_BEGIN_ALLOW_THREADS
        for (int index = 0; index < count && !full; index++) {
            Record record;
            uint64_t hash[2];
            if (!next_record(&cursor, &record)) {
                damaged = 1;
                break;
            }
            int64_t offset = base_offset + record.offset_delta;
            if (record.key_size < 0 || offset < start)
                continue;
            if (keys >= keys_max || keys >= slots) {
                full = 1;
                break;
            }
            Slot *slot = slot_of_key(&table, &seed, &record, hash);
            if (!slot->offset_and_one) {
                if (keys + 1 >= slots) {
                    full = 1;
                    break;
                }
                keys++;
                slot->hash[0] = hash[0];
                slot->hash[1] = hash[1];
            }
            slot->offset_and_one = offset + 1;
            last = offset;
        }
        Py_END_ALLOW_THREADS
        answer = damaged ? Py_NewRef(Py_None) : Py_BuildValue("iLL", full, keys, last);
    }
    PyBuffer_Release(&payload);
    PyBuffer_Release(&table);
    PyBuffer_Release(&seed);
    return answer;
}

static PyObject *move_keys(PyObject *module, PyObject *args) {
    Py_buffer from, to;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*w*:move_keys", &from, &to))
        return NULL;
    const Slot *old = from.buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t left = from.len / (Py_ssize_t)sizeof(Slot); left--; old++)
        if (old->offset_and_one)
            *slot_of(to.buf, (uint64_t)to.len / sizeof(Slot), old->hash) = *old;
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&from);
    PyBuffer_Release(&to);
    Py_RETURN_NONE;
}

static PyObject *choose_records(PyObject *module, PyObject *args) {
    Py_buffer payload, mask, table, seed;
    int tombstones, tombstone = 0, damaged = 0;
    long long base_offset, latest, kept = 0, first = 0, largest = INT64_MIN;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*w*LLpy*y*:choose_records", &payload, &mask, &base_offset,
                          &latest, &tombstones, &table, &seed))
        return NULL;
    PyObject *answer = NULL;
    if (are_table_and_seed(&table, &seed)) {
        Cursor cursor = {payload.buf, (const uint8_t *)payload.buf + payload.len};
        uint8_t *keep = mask.buf;
        Py_BEGIN_ALLOW_THREADS
        for (Py_ssize_t index = 0; index < mask.len; index++) {
            Record record;
            uint64_t hash[2];
            if (!next_record(&cursor, &record)) {
                damaged = 1;
                break;
            }
            int64_t offset = base_offset + record.offset_delta;
            keep[index] = 0;
            if (offset <= latest) {
                if (record.key_size < 0 || (record.value_size < 0 && !tombstones))
                    continue;
                if (offset + 1 < slot_of_key(&table, &seed, &record, hash)->offset_and_one)
                    continue;
            }
            keep[index] = 1;
            tombstone |= record.value_size < 0;
            if (!kept++)
                first = record.timestamp_delta;
            if (record.timestamp_delta > largest)
                largest = record.timestamp_delta;
        }
        Py_END_ALLOW_THREADS
        answer = damaged ? Py_NewRef(Py_None)
                         : Py_BuildValue("LNLL", kept, PyBool_FromLong(kept && tombstone), first,
                                         largest);
    }
    PyBuffer_Release(&payload);
    PyBuffer_Release(&mask);
    PyBuffer_Release(&table);
    PyBuffer_Release(&seed);
    return answer;
}

static uint8_t *write_varlong(uint8_t *out, int64_t value) {
    uint64_t left = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (; left >= 0x80; left >>= 7)
        *out++ = (uint8_t)(left | 0x80);
    *out++ = (uint8_t)left;
    return out;
}

static PyObject *rebuild_records(PyObject *module, PyObject *args) {
    Py_buffer payload, mask;
    int constant, damaged = 0;
    long long shift;
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*Lp:rebuild_records", &payload, &mask, &shift, &constant))
        return NULL;
    /* A time delta may grow by nine bytes, and the record's length by one with it. */
    PyObject *built = PyByteArray_FromStringAndSize(NULL, payload.len + 10 * mask.len);
    if (built != NULL) {
        uint8_t *out = (uint8_t *)PyByteArray_AsString(built), *begin = out, delta[10];
        const uint8_t *keep = mask.buf;
        Cursor cursor = {payload.buf, (const uint8_t *)payload.buf + payload.len};
        for (Py_ssize_t index = 0; index < mask.len && !damaged; index++) {
            Record record;
            damaged = !next_record(&cursor, &record);
            if (damaged || !keep[index])
                continue;
            uint64_t changed = constant ? 0 : (uint64_t)record.timestamp_delta;
            Py_ssize_t delta_size =
                write_varlong(delta, (int64_t)(changed + (uint64_t)shift)) - delta;
            Py_ssize_t rest_size = cursor.at - record.rest;
            out = write_varlong(out, 1 + delta_size + rest_size);
            *out++ = 0;
            memcpy(out, delta, (size_t)delta_size);
            memcpy(out + delta_size, record.rest, (size_t)rest_size);
            out += delta_size + rest_size;
        }
        if (PyByteArray_Resize(built, out - begin) < 0)
            Py_CLEAR(built);
    }
    PyBuffer_Release(&payload);
    PyBuffer_Release(&mask);
    if (built == NULL || !damaged)
        return built;
    Py_DECREF(built);
    Py_RETURN_NONE;
}

static PyObject *hash_of(PyObject *module, PyObject *args) {
    Py_buffer key, seed;
    uint64_t hash[2];
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*:hash_of", &key, &seed))
        return NULL;
    PyObject *answer = NULL;
    if (seed.len == 16) {
        const uint64_t words[2] = {little_endian(seed.buf, 8),
                                   little_endian((const uint8_t *)seed.buf + 8, 8)};
        sip_hash(key.buf, (uint64_t)key.len, words, hash);
        answer = Py_BuildValue("KK", (unsigned long long)hash[0], (unsigned long long)hash[1]);
    } else {
        PyErr_SetString(PyExc_ValueError, "a seed of 16 bytes");
    }
    PyBuffer_Release(&key);
    PyBuffer_Release(&seed);
    return answer;
}

static PyMethodDef methods[] = {
    {"scan", scan, METH_VARARGS,
     "scan(payload, count, base_timestamp)\n--\n\nThe fields of a scan.Scan, as a tuple."},
    {"walk", walk, METH_VARARGS,
     "walk(payload, count, base, records, headers)\n--\n\n"
     "Fill the rows of walk.py; the number of headers, or -1 for damaged records."},
    {"add_keys", add_keys, METH_VARARGS,
     "add_keys(payload, count, base_offset, start, table, seed, keys, keys_max)\n--\n\n"
     "(full, keys, last offset added or -1), or None for damaged records."},
    {"move_keys", move_keys, METH_VARARGS,
     "move_keys(table, larger_table)\n--\n\nFill a table that is all zeros with another's keys."},
    {"choose_records", choose_records, METH_VARARGS,
     "choose_records(payload, mask, base_offset, latest, tombstones, table, seed)\n--\n\n"
     "The fields of an offset_map.Choice after mask, or None for damaged records."},
    {"rebuild_records", rebuild_records, METH_VARARGS,
     "rebuild_records(payload, mask, shift, constant)\n--\n\n"
     "The records in a bytearray, or None if damaged."},
    {"hash_of", hash_of, METH_VARARGS,
     "hash_of(key, seed)\n--\n\nThe two halves of a key's hash in the table."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_scan",
    .m_doc = "One look at every record of a batch, in C; see scan.py.",
    .m_size = 0,
    .m_methods = methods,
};

PyMODINIT_FUNC PyInit__scan(void) {
    return PyModuleDef_Init(&module);
}
