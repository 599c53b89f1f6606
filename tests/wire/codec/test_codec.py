"""How a table becomes bytes, shown on small messages whose bytes are written out here."""

from __future__ import annotations

from typing import TypeVar

import pytest
from odradek.wire.codec.messages import read_in_slices, write_in_slices
from odradek.wire.codec.reader_source import ITEMS_A_SLICE
from odradek.wire.codec.writer_source import STRUCTS_A_SLICE
from odradek.wire.errors import WireError
from odradek.wire.primitives import NO_ID
from odradek.wire.schema import (
    EMPTY,
    UUID,
    Message,
    Records,
    Struct,
    f64,
    i8,
    i16,
    i32,
    i64,
    tag,
    u16,
    u32,
    v,
)

M = TypeVar("M", bound=Message)


class Letter(Message, versions="0-3", flexible="2+"):
    """Text, numbers and a struct, in old and in compact encoding."""

    number: i16
    text: str = ""
    note: str | None = None
    stamps: list[i32] = v("1+", default=[])
    pages: list[Page] = v("3+", default=[])

    class Page(Struct):
        lines: list[str]


class Tagged(Message, versions="0", flexible="0+"):
    """Tagged fields of every sort, nested ones too."""

    plain: i8 = 0
    number: i32 = tag(0, "0+", default=-1)
    maybe: str | None = tag(1, "0+", default=None)
    many: list[i64] = tag(2, "0+", default=[])
    inner: Inner = tag(5, "0+", default=EMPTY)

    class Inner(Struct):
        leader: i32 = -1
        text: str = tag(0, "0+", default="")


class Tomorrow(Message, versions="0", flexible="0+"):
    """Tagged, as a later version may have it: with tags that Tagged does not know."""

    plain: i8 = 0
    inner: Inner = tag(5, "0+", default=EMPTY)
    surprise: str = tag(6, "0+", default="")

    class Inner(Struct):
        leader: i32 = -1
        surprise: bytes = tag(9, "0+", default=b"")


class Numbers(Message, versions="0"):
    """One field of every width."""

    a: bool
    b: i8
    c: i16
    d: u16
    e: i32
    f: u32
    g: i64
    h: f64
    i: UUID


class Parcel(Message, versions="0-1", flexible="1+"):
    """Records between other fields."""

    name: str = ""
    raw: bytes = b""
    records: Records | None = None
    after: i8 = 0


class Maybe(Message, versions="0", flexible="0+"):
    """A struct and a list that may be null."""

    cursor: Cursor | None = None
    ids: list[UUID] | None = v(default=None)

    class Cursor(Struct):
        name: str = ""
        at: i32 = 0


class Family(Message, versions="0-1", flexible="1+"):
    """Lists that may be the same."""

    homes: list[Home]

    class Home(Struct):
        street: str
        people: list[Family.Person] | None = v(shared=True)

    class Person(Struct):
        name: str


class TestTheOldEncoding:
    def test_text_has_an_int16_length_and_null_is_minus_one(self) -> None:
        assert Letter(number=1, text="hé").encode(0) == bytes.fromhex("0001 0003 68c3a9 ffff")
        assert Letter(number=1, note="").encode(0) == bytes.fromhex("0001 0000 0000")

    def test_a_list_has_an_int32_length(self) -> None:
        encoded = Letter(number=1, stamps=[7, -1]).encode(1)
        assert encoded == bytes.fromhex("0001 0000 ffff 00000002 00000007 ffffffff")

    def test_every_width_is_big_endian(self) -> None:
        message = Numbers(a=True, b=-2, c=-3, d=65535, e=-4, f=2**32 - 1, g=-5, h=0.5, i=NO_ID)
        encoded = message.encode(0)
        assert encoded == bytes.fromhex(
            "01 fe fffd ffff fffffffc ffffffff fffffffffffffffb 3fe0000000000000" + "00" * 16
        )
        assert Numbers.decode(encoded, 0) == message


class TestTheCompactEncoding:
    def test_lengths_are_one_more_than_they_say_and_null_is_zero(self) -> None:
        encoded = Letter(number=1, text="hé", stamps=[7]).encode(2)
        assert encoded == bytes.fromhex("0001 04 68c3a9 00 02 00000007 00")

    def test_every_struct_ends_with_its_tagged_fields(self) -> None:
        encoded = Letter(number=1, pages=[Letter.Page(lines=["a", ""])]).encode(3)
        assert encoded == bytes.fromhex("0001 01 00 01 02 03 0261 01 00 00")

    @pytest.mark.parametrize("length", [126, 127, 128, 1021, 1022, 1023, 16_382, 16_383, 32_767])
    def test_text_of_any_length_up_to_the_limit(self, length: int) -> None:
        message = Letter(number=1, text="x" * length)
        for version in range(4):
            assert Letter.decode(message.encode(version), version) == message

    @pytest.mark.parametrize(
        "length", [0, 1, 126, 127, 128, 16_381, 16_382, 16_383, 16_384, 2_097_150, 2_097_151]
    )
    def test_bytes_and_records_of_any_length(self, length: int) -> None:
        message = Parcel(name="n", raw=b"x" * length, records=b"y" * length, after=7)
        for version in range(2):
            assert Parcel.decode(message.encode(version), version) == message

    def test_a_length_in_more_bytes_than_needed(self) -> None:
        for length in ("04", "8400", "848000"):
            encoded = bytes.fromhex(f"01 {length} 616263 {length} 646566 00 00")
            assert Parcel.decode(encoded, 1) == Parcel(raw=b"abc", records=b"def")

    @pytest.mark.parametrize("length", [15, 16, 17, 18, 126, 127, 128, 5000])
    def test_lists_of_any_length(self, length: int) -> None:
        pages = [Letter.Page(lines=[str(n)]) for n in range(length)]
        message = Letter(number=1, stamps=list(range(length)), pages=pages)
        assert Letter.decode(message.encode(3), 3) == message
        ids = Maybe(ids=[bytes([n % 256]) * 16 for n in range(length)])
        assert Maybe.decode(ids.encode(0), 0) == ids

    def test_a_struct_that_may_be_null_is_led_by_a_byte(self) -> None:
        assert Maybe().encode(0) == bytes.fromhex("ff 00 00")
        there = Maybe(cursor=Maybe.Cursor(name="t", at=1), ids=[])
        assert there.encode(0) == bytes.fromhex("01 0274 00000001 00 01 00")
        assert Maybe.decode(there.encode(0), 0) == there


class TestTaggedFields:
    def test_defaults_are_not_sent(self) -> None:
        assert Tagged().encode(0) == bytes.fromhex("00 00")

    def test_others_are_sent_in_order_with_their_sizes(self) -> None:
        message = Tagged(number=2, maybe="", many=[1], inner=Tagged.Inner(text="x"))
        encoded = message.encode(0)
        assert encoded == bytes.fromhex(
            "00 0400 04 0000000201 01 0102 09 02 000000000000000105 09 ffffffff 01 00 02 0278"
        )
        assert Tagged.decode(encoded, 0) == message

    def test_those_not_known_are_skipped_at_every_depth(self) -> None:
        inner = Tomorrow.Inner(leader=3, surprise=bytes(500))
        encoded = Tomorrow(plain=1, inner=inner, surprise="!" * 300).encode(0)
        assert Tagged.decode(encoded, 0) == Tagged(plain=1, inner=Tagged.Inner(leader=3))

    def test_one_that_does_not_fill_its_size_is_refused(self) -> None:
        with pytest.raises(WireError, match="number"):
            Tagged.decode(bytes.fromhex("00 01 00 05 0000000200"), 0)

    def test_one_that_goes_past_the_end_is_refused(self) -> None:
        with pytest.raises(WireError, match="tagged field of length 9"):
            Tagged.decode(bytes.fromhex("00 01 63 09 00"), 0)

    def test_a_default_struct_that_was_changed_is_sent(self) -> None:
        message = Tagged()
        message.inner.leader = 7
        assert Tagged.decode(message.encode(0), 0).inner.leader == 7


class TestRecords:
    @pytest.mark.parametrize("version", [0, 1])
    def test_they_go_out_as_the_very_buffer_they_are(self, version: int) -> None:
        records = bytearray(b"a batch")
        parts = Parcel(name="n", records=records).parts(version)
        assert any(part is records for part in parts)
        assert b"".join(parts) == Parcel(name="n", records=bytes(records)).encode(version)

    @pytest.mark.parametrize("version", [0, 1])
    def test_they_are_read_as_a_view_of_the_frame(self, version: int) -> None:
        frame = bytearray(Parcel(name="é", raw=b"raw", records=b"a batch", after=1).encode(version))
        read = Parcel.decode(frame, version)
        assert isinstance(read.records, memoryview)
        assert (read.name, read.raw, bytes(read.records), read.after) == (
            "é",
            b"raw",
            b"a batch",
            1,
        )
        read.records[0] = ord("A")
        assert b"A batch" in frame

    @pytest.mark.parametrize("version", [0, 1])
    def test_null_is_not_the_same_as_none_of_them(self, version: int) -> None:
        assert Parcel.decode(Parcel(records=None).encode(version), version).records is None
        empty = Parcel.decode(Parcel(records=b"").encode(version), version).records
        assert empty is not None
        assert len(empty) == 0


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        "letter",
        [
            Letter(number=40_000),
            Letter(number="1"),  # type: ignore[arg-type]
            Letter(number=1, text=None),  # type: ignore[arg-type]
            Letter(number=1, text=b"bytes"),  # type: ignore[arg-type]
            Letter(number=1, text="x" * 32_768),
            Letter(number=1, text="\ud800"),
            Letter(number=1, stamps=[2**31]),
            Letter(number=1, stamps=None),  # type: ignore[arg-type]
        ],
        ids=repr,
    )
    def test_a_value_that_does_not_fit_its_field(self, letter: Letter) -> None:
        for version in (1, 2):
            with pytest.raises(WireError):
                letter.encode(version)

    @pytest.mark.parametrize(
        ("version", "encoded"),
        [
            (0, "0001 ffff ffff"),  # null text
            (0, "0001 fffe ffff"),  # negative length
            (1, "0001 0000 ffff ffffffff"),  # null list
            (1, "0001 0000 ffff 7fffffff"),  # list longer than what is left
            (2, "0001 00 00 01 00"),  # null text
            (2, "0001 8000 00 01 00"),  # null, in more bytes than needed
            (2, "0001 81 80 02 00 00 01 00"),  # text longer than 32767
            (2, "0001 01 00 ffffffff0f 00"),  # list longer than what is left
            (2, "0001 01 00 ffffffffff7f 00"),  # varint longer than five bytes
        ],
    )
    def test_a_length_that_cannot_be(self, version: int, encoded: str) -> None:
        with pytest.raises(WireError):
            Letter.decode(bytes.fromhex(encoded), version)

    def test_the_error_says_which_message(self) -> None:
        with pytest.raises(WireError, match="Letter v1 is cut short"):
            Letter.decode(b"\0", 1)
        with pytest.raises(WireError, match="Letter v1 holds a value that does not fit"):
            Letter(number=2**15).encode(1)


class TestText:
    @pytest.mark.parametrize(("version", "head"), [(0, "0001 0003"), (2, "0001 04")])
    def test_what_is_not_utf_8_is_replaced(self, version: int, head: str) -> None:
        behind = "ffff" if version == 0 else "00 01 00"
        encoded = bytes.fromhex(f"{head} 61ff62 {behind}")
        assert Letter.decode(encoded, version).text == "a\ufffdb"

    def test_also_beside_records(self) -> None:
        encoded = Parcel(name="abc").encode(1).replace(b"abc", b"a\xffc")
        assert Parcel.decode(encoded, 1).name == "a\ufffdc"


class TestStructs:
    def test_lists_and_structs_are_not_shared_between_messages(self) -> None:
        first, second = Letter(number=1), Letter(number=1)
        first.stamps.append(1)
        assert second.stamps == []
        assert Tagged().inner is not Tagged().inner
        empty = Tagged().encode(0)
        assert Tagged.decode(empty, 0).inner is not Tagged.decode(empty, 0).inner
        assert Tagged.decode(empty, 0).many is not Tagged.decode(empty, 0).many
        read = Letter.decode(first.encode(0), 0)
        read.pages.append(Letter.Page(lines=[]))
        assert Letter.decode(first.encode(0), 0).pages == []

    def test_they_are_equal_by_value_and_cannot_be_hashed(self) -> None:
        assert Letter(number=1, stamps=[1]) == Letter(number=1, stamps=[1])
        assert Letter(number=1) != Letter(number=2)
        assert Letter(number=1) != Numbers.__new__(Numbers)
        with pytest.raises(TypeError):
            hash(Letter(number=1))

    def test_they_show_their_fields_and_not_all_of_their_bytes(self) -> None:
        assert repr(Maybe.Cursor(name="t", at=1)) == "Cursor(name='t', at=1)"
        assert "raw=<33 bytes>" in repr(Parcel(raw=bytes(33)))

    def test_they_have_no_other_fields(self) -> None:
        with pytest.raises(TypeError):
            Letter(number=1, colour="red")  # type: ignore[call-arg]
        with pytest.raises(AttributeError):
            Letter(number=1).colour = "red"  # type: ignore[attr-defined]

    def test_a_name_means_the_nearest_struct_around(self) -> None:
        (page,) = (t for field, t in Letter.fields() if field.name == "pages")
        assert page.struct is Letter.Page


class TestSharedLists:
    @pytest.mark.parametrize("version", [0, 1])
    def test_one_list_is_encoded_once_and_its_bytes_are_everywhere(self, version: int) -> None:
        people = [Family.Person(name="Ada" * 100), Family.Person(name="Bob")]
        homes = [Family.Home(street=f"street {n}", people=people) for n in range(5)]
        shared = Family(homes=homes)
        parts = shared.parts(version)
        found = {id(part) for part in parts if b"AdaAda" in part}
        assert len(found) == 1
        apart = Family(
            homes=[Family.Home(street=home.street, people=list(people)) for home in homes]
        )
        assert b"".join(parts) == apart.encode(version)
        assert Family.decode(b"".join(parts), version) == shared

    def test_it_may_be_null_or_empty(self) -> None:
        family = Family(
            homes=[Family.Home(street="a", people=None), Family.Home(street="b", people=[])]
        )
        for version in (0, 1):
            assert Family.decode(family.encode(version), version) == family


def in_slices(message: Message, version: int) -> tuple[bytes, int]:
    """A message encoded in slices, and how many times it yielded."""
    slices = write_in_slices(message, version)
    yields = 0
    while True:
        try:
            next(slices)
            yields += 1
        except StopIteration as end:
            return b"".join(end.value), yields


class TestWritingInSlices:
    def test_it_yields_between_the_structs_of_lists(self) -> None:
        people = [Family.Person(name=str(number)) for number in range(1000)]
        family = Family(homes=[Family.Home(street="a", people=people)])
        assert in_slices(family, 1) == (family.encode(1), 1001 // STRUCTS_A_SLICE)

    def test_what_has_no_lists_is_written_at_once(self) -> None:
        numbers = Numbers(a=True, b=1, c=2, d=3, e=4, f=5, g=6, h=1.5, i=NO_ID)
        assert in_slices(numbers, 0) == (numbers.encode(0), 0)

    def test_a_value_that_does_not_fit_is_refused(self) -> None:
        with pytest.raises(WireError, match="Family v1 holds a value that does not fit"):
            in_slices(Family(homes=[None]), 1)  # type: ignore[list-item]


def read_sliced(cls: type[M], data: bytes, version: int) -> tuple[M, int]:
    """A message decoded in slices, and how many times it yielded."""
    slices = read_in_slices(cls, data, version)
    yields = 0
    while True:
        try:
            next(slices)
            yields += 1
        except StopIteration as end:
            return end.value, yields


class TestReadingInSlices:
    def test_it_yields_between_the_items_of_lists(self) -> None:
        people = [Family.Person(name=str(number)) for number in range(1000)]
        family = Family(homes=[Family.Home(street="a", people=people)])
        for version in (0, 1):
            data = family.encode(version)
            assert read_sliced(Family, data, version) == (family, 1001 // ITEMS_A_SLICE)

    def test_what_has_no_lists_is_read_at_once(self) -> None:
        numbers = Numbers(a=True, b=1, c=2, d=3, e=4, f=5, g=6, h=1.5, i=NO_ID)
        assert read_sliced(Numbers, numbers.encode(0), 0) == (numbers, 0)

    def test_damage_is_refused_as_it_is_when_read_at_once(self) -> None:
        data = Family(homes=[Family.Home(street="a", people=[Family.Person(name="b")])]).encode(1)
        for end in range(len(data)):
            with pytest.raises(WireError) as at_once:
                Family.decode(data[:end], 1)
            with pytest.raises(WireError) as in_pieces:
                read_sliced(Family, data[:end], 1)
            assert str(in_pieces.value) == str(at_once.value)

    def test_text_that_is_not_utf_8_is_replaced(self) -> None:
        data = Family(homes=[Family.Home(street="abc", people=[])]).encode(1)
        data = data.replace(b"abc", b"a\xffc")
        assert read_sliced(Family, data, 1) == (Family.decode(data, 1), 0)


@pytest.mark.slow
def test_a_request_with_too_many_items_is_refused_before_they_are_made() -> None:
    from odradek.wire.api.list_offsets import ListOffsetsRequest
    from odradek.wire.codec.reader_source import REQUEST_ITEMS_MAX

    def body(topics: int) -> bytes:
        count = topics + 1
        encoded = bytearray()
        while count > 0x7F:
            encoded.append(count & 0x7F | 0x80)
            count >>= 7
        encoded.append(count)
        return b"\xff\xff\xff\xff\0" + bytes(encoded) + b"\1\1\0" * topics + b"\0"

    whole = ListOffsetsRequest.decode(body(REQUEST_ITEMS_MAX), 7)
    assert len(whole.topics) == REQUEST_ITEMS_MAX
    with pytest.raises(WireError, match="more than 250000 items"):
        ListOffsetsRequest.decode(body(REQUEST_ITEMS_MAX + 1), 7)
