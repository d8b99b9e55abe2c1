import { readdirSync } from 'node:fs';
import { Fault } from '@call-analysis/fault';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { processorMs } from '../test/reading.ts';
import { SpeexDecoder } from './decoder.ts';
import {
  compare,
  decodeStream,
  FIXTURES,
  headerOf,
  packetOf,
  packetsOf,
  pcm16,
  readFixture,
} from './streams-under-test.ts';

const streams = readdirSync(FIXTURES)
  .filter((name) => name.endsWith('.spx'))
  .map((name) => name.slice(0, -'.spx'.length));
/** Of every how many samples of libspeex's sound a fixture keeps one. */
const KEPT_ONE_OF = 31;

const TERMINATOR = '01111';
/** A frame of mode 8, which always has the same sound in a new decoder. */
const FRAME = `01000 ${'0110'.repeat(18)}01`;

function unreadable(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid' && error.code === 'AUDIO_UNREADABLE') return error.message;
    throw error;
  }
  throw new Error('no fault');
}

describe('the sound of a stream', () => {
  it.each(streams)('%s is that of libspeex', (name) => {
    const { channels, samples } = decodeStream(readFixture(`${name}.spx`));
    const expected = pcm16(readFixture(`${name}.s16`));
    const kept = samples.filter((_, i) => Math.floor(i / channels) % KEPT_ONE_OF === 0);
    expect(kept).toHaveLength(expected.length);
    const { decibels, largest } = compare(kept, expected);
    expect(decibels).toBeGreaterThan(55);
    expect(largest).toBeLessThan(6);
  });

  it('is the same again after a reset', () => {
    for (const name of ['narrow-dtx', 'wide-stereo']) {
      const [header, , ...packets] = packetsOf(readFixture(`${name}.spx`));
      const decoder = new SpeexDecoder(header!);
      const once = packets.map((packet) => decoder.decode(packet));
      decoder.reset();
      expect(packets.map((packet) => decoder.decode(packet))).toEqual(once);
    }
  });

  it('stays within full scale however loud the stream is', () => {
    const decoder = new SpeexDecoder(headerOf({ channels: 2 }));
    const loudest = packetOf('01110 1001 0 11111 00', '00111', '1'.repeat(487));
    for (let i = 0; i < 20; i += 1) {
      for (const plane of decoder.decode(loudest)) {
        expect(plane.every((sample) => sample >= -1 && sample <= 1)).toBe(true);
      }
    }
  });
});

describe('a packet', () => {
  it('has as many samples as it has frames, up to the number that the header tells', () => {
    const decoder = new SpeexDecoder(headerOf({ framesPerPacket: 3 }));
    expect(decoder.samplesPerPacket).toBe(480);
    expect(decoder.decode(packetOf(FRAME, FRAME, FRAME, FRAME))[0]).toHaveLength(480);
    expect(decoder.decode(packetOf(FRAME, FRAME, TERMINATOR, FRAME))[0]).toHaveLength(320);
    expect(decoder.decode(packetOf(FRAME))[0]).toHaveLength(160);
    expect(decoder.decode(packetOf(TERMINATOR))[0]).toHaveLength(0);
    expect(decoder.decode(new Uint8Array())[0]).toHaveLength(0);
  });

  it.each([
    ['an acknowledgement', '01110 0000 1'],
    ['a mode request', '01110 0011 1010'],
    ['a character', '01110 1000 10101010'],
    ['a stereo balance in a mono stream', '01110 1001 00000100'],
    ['a number of 16 bits', `01110 1010 ${'10'.repeat(8)}`],
    ['a number of 32 bits', `01110 1101 ${'10'.repeat(16)}`],
    ['a number of 64 bits', `01110 1111 ${'10'.repeat(32)}`],
    ['a message of the application', `01101 0011 10101 ${'10'.repeat(12)}`],
    ['an unasked high band', `1 001 ${'10'.repeat(16)}`],
    ['two unasked high bands, one without a word', `1 000 1 010 ${'10'.repeat(54)}`],
  ])('may carry %s before a frame, which sounds as without', (_, bits) => {
    const plain = new SpeexDecoder(headerOf()).decode(packetOf(FRAME));
    expect(new SpeexDecoder(headerOf()).decode(packetOf(bits, FRAME))).toEqual(plain);
  });

  it('may come without its high band', () => {
    const decoder = new SpeexDecoder(headerOf({ rate: 16_000, mode: 1 }));
    const [plane] = decoder.decode(packetOf(FRAME));
    expect(plane).toHaveLength(320);
    expect(plane!.some((sample) => sample !== 0)).toBe(true);
  });

  it('moves the sound to the side that its stereo request names', () => {
    const decoder = new SpeexDecoder(headerOf({ channels: 2 }));
    const energy = (plane: Float32Array): number => plane.reduce((sum, sample) => sum + sample * sample, 0);
    const heard = (request: string): number[] => {
      for (let i = 0; i < 5; i += 1) decoder.decode(packetOf(request, FRAME));
      return decoder.decode(packetOf(FRAME)).map(energy);
    };
    const [left, faintRight] = heard('01110 1001 0 10100 00');
    expect(left! / faintRight!).toBeCloseTo(Math.exp(5), 0);
    const [faintLeft, right] = heard('01110 1001 1 10100 00');
    expect(right! / faintLeft!).toBeCloseTo(Math.exp(5), 0);
  });

  it.each([
    ['ends inside a frame', packetOf(FRAME.slice(0, -20))],
    ['ends inside a request', packetOf('01110 1111 0')],
    ['is of a mode that does not exist', packetOf('01001', '0'.repeat(100))],
    ['has a high band of a mode that does not exist', packetOf('1 101', '0'.repeat(100))],
    ['has too many bands', packetOf('1 000 1 000 1 000', FRAME)],
  ])('that %s is unreadable', (_, packet) => {
    const message = unreadable(() => new SpeexDecoder(headerOf()).decode(packet));
    expect(message).toMatch(/^The Speex stream is broken: .+\.$/u);
  });

  it('of a megabyte takes no longer than its frames', async () => {
    const decoder = new SpeexDecoder(headerOf({ rate: 32_000, mode: 2, channels: 2, framesPerPacket: 64 }));
    const tookMs = await processorMs(() => {
      expect(decoder.decode(new Uint8Array(1 << 20))[0]).toHaveLength(64 * 640);
      unreadable(() => decoder.decode(new Uint8Array(1 << 20).fill(0b0111_0000)));
    });
    expect(tookMs).toBeLessThan(5_000);
  });

  const settings = fc.record({
    mode: fc.constantFrom(0, 1, 2),
    channels: fc.constantFrom(1, 2),
    framesPerPacket: fc.integer({ min: 1, max: 4 }),
  });
  /** Random bytes mostly fail at once; the known mode and the first stretch of bits get past that. */
  const packet = fc.oneof(
    fc.uint8Array({ maxLength: 120 }),
    fc
      .tuple(fc.integer({ min: 0, max: 15 }), fc.uint8Array({ minLength: 60, maxLength: 120 }))
      .map(([mode, bytes]) => Uint8Array.from(bytes, (byte, i) => (i === 0 ? (mode << 3) | (byte & 7) : byte))),
  );

  it('of any content gives sound within full scale or is unreadable', () => {
    fc.assert(
      fc.property(settings, fc.array(packet, { maxLength: 12 }), (fields, packets) => {
        const decoder = new SpeexDecoder(headerOf(fields));
        for (const each of packets) expectSoundOrFault(decoder, each);
      }),
      { numRuns: 150 },
    );
  });

  it('of a real stream with some bits turned gives sound within full scale or is unreadable', () => {
    const turn = fc.tuple(fc.nat(), fc.integer({ min: 0, max: 7 }));
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.array(turn, { minLength: 1, maxLength: 8 }), (name, turns) => {
        const [header, , ...packets] = packetsOf(readFixture(`${name}.spx`));
        for (const [at, bit] of turns) {
          const bytes = packets[at % packets.length]!;
          bytes[(at >> 8) % bytes.length]! ^= 1 << bit;
        }
        const decoder = new SpeexDecoder(header!);
        for (const each of packets) expectSoundOrFault(decoder, each);
      }),
      { numRuns: 20 },
    );
  });
});

function expectSoundOrFault(decoder: SpeexDecoder, packet: Uint8Array): void {
  let planes: Float32Array[] = [];
  try {
    planes = decoder.decode(packet);
  } catch (error) {
    expect(error).toMatchObject({ name: 'Fault', kind: 'invalid', code: 'AUDIO_UNREADABLE' });
    return;
  }
  expect(planes).toHaveLength(decoder.channels);
  for (const plane of planes) {
    expect(plane.length).toBe(planes[0]!.length);
    expect(plane.length).toBeLessThanOrEqual(decoder.samplesPerPacket);
    expect(plane.every((sample) => sample >= -1 && sample <= 1)).toBe(true);
  }
}

describe('a header', () => {
  it('tells the rate, the channels, the samples of a packet and the delay', () => {
    const header = headerOf({ rate: 16_000, mode: 1, channels: 2, framesPerPacket: 2 });
    header.writeInt32LE(3, 68);
    expect(new SpeexDecoder(header)).toMatchObject({
      sampleRate: 16_000,
      channels: 2,
      samplesPerPacket: 640,
      delay: 80,
      extraHeaders: 3,
    });
  });

  it('of an old encoder, without a number of frames, means one', () => {
    expect(new SpeexDecoder(headerOf({ framesPerPacket: 0 })).samplesPerPacket).toBe(160);
  });

  it.each([
    ['too short', headerOf().subarray(0, 79)],
    ['of another codec', Buffer.concat([Buffer.from('OpusHead'), headerOf().subarray(8)])],
    ['of a later version', headerOf({ version: 5 })],
    ['of a mode that does not exist', headerOf({ mode: 3 })],
    ['without channels', headerOf({ channels: 0 })],
    ['of three channels', headerOf({ channels: 3 })],
    ['of no rate', headerOf({ rate: 0 })],
    ['of a rate beyond the codec', headerOf({ rate: 192_000 })],
    ['of a negative number of frames', headerOf({ framesPerPacket: -1 })],
    ['of more frames than a packet may have', headerOf({ framesPerPacket: 65 })],
  ])('%s is unreadable', (_, header) => {
    expect(unreadable(() => new SpeexDecoder(header))).toMatch(/^The Speex stream is broken: /u);
  });

  it('of any content is read or is unreadable', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.boolean(), (bytes, isNamed) => {
        const header = isNamed ? Buffer.concat([Buffer.from('Speex   '), bytes]) : bytes;
        try {
          expect(new SpeexDecoder(header).samplesPerPacket).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toMatchObject({ name: 'Fault', code: 'AUDIO_UNREADABLE' });
        }
      }),
    );
  });
});
