/* The C twin of scan_python in scan.py: one look at every record of a batch.
 *
 * What a record is stands in records.py, and which damage is which fault in scan.py; the tests hold
 * the two to each other. Rules: no byte is read before the cursor was compared with the end, so any
 * input is safe; lengths are compared with what is left, never added to a pointer first; nothing is
 * allocated but the answer; sums wrap, so they are made of unsigned numbers.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

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

static PyMethodDef methods[] = {
    {"scan", scan, METH_VARARGS,
     "scan(payload, count, base_timestamp)\n--\n\nThe fields of a scan.Scan, as a tuple."},
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
