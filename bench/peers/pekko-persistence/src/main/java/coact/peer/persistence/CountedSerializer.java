package coact.peer.persistence;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.pekko.serialization.SerializerWithStringManifest;

/** An event in a compact binary form: 4 bytes besides the note, if the number is small. */
public final class CountedSerializer extends SerializerWithStringManifest {
    private static final String NAME = "bench.counted";
    private static final int IDENTIFIER = 510_200_000;
    /** Bytes of the longest number, and of two of them. */
    private static final int NUMBERS = 20;

    @Override
    public int identifier() {
        return IDENTIFIER;
    }

    @Override
    public String manifest(Object event) {
        return NAME;
    }

    @Override
    public byte[] toBinary(Object event) {
        Counted counted = (Counted) event;
        byte[] note = counted.note().getBytes(StandardCharsets.UTF_8);
        ByteBuffer bytes = ByteBuffer.allocate(NUMBERS + note.length);
        putNumber(bytes, counted.by());
        putNumber(bytes, note.length);
        bytes.put(note);
        byte[] written = new byte[bytes.position()];
        bytes.flip().get(written);
        return written;
    }

    @Override
    public Object fromBinary(byte[] written, String manifest) {
        if (!manifest.equals(NAME)) {
            throw new IllegalArgumentException("not an event of a counter: " + manifest);
        }
        ByteBuffer bytes = ByteBuffer.wrap(written);
        long by = number(bytes);
        byte[] note = new byte[Math.toIntExact(number(bytes))];
        bytes.get(note);
        return new Counted(by, new String(note, StandardCharsets.UTF_8));
    }

    /** Seven bits a byte, the least first; all bytes but the last have the highest bit. */
    private static void putNumber(ByteBuffer bytes, long number) {
        long rest = number;
        while ((rest & ~0x7FL) != 0) {
            bytes.put((byte) (rest | 0x80));
            rest >>>= 7;
        }
        bytes.put((byte) rest);
    }

    private static long number(ByteBuffer bytes) {
        long number = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = bytes.get();
            number |= (next & 0x7FL) << shift;
            if (next >= 0) {
                return number;
            }
        }
    }
}
