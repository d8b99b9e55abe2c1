import { unreadable } from '../faults.ts';
import type { Page } from './page.ts';

/** No sound is in a larger packet; comments with pictures are, and nobody asks for their end. */
const MAX_PACKET_BYTES = 4 * 1024 * 1024;

/** Puts the packets of one stream together from its pages. */
export class Packets {
  #pieces: Uint8Array[] = [];
  #length = 0;
  /** Whether the packet that is being put together is one whose content does not matter. */
  #unwanted: boolean;
  readonly #isUnwanted: (index: number) => boolean;
  #index = 0;
  /** The beginning of the packet that the next piece belongs to is not there. */
  #headless = false;

  /** Packets whose index `isUnwanted` come out empty. */
  constructor(isUnwanted: (index: number) => boolean = () => false) {
    this.#isUnwanted = isUnwanted;
    this.#unwanted = isUnwanted(0);
  }

  /** Whether a page of pieces that all go on would change nothing. */
  get indifferent(): boolean {
    return this.#unwanted;
  }

  /** The packets that end on this page. */
  take({ lacing, body, continued }: Page): Uint8Array[] {
    // A page was lost, or the recording began in the middle: half a packet is none.
    if (!continued && this.#length > 0) this.#forget();
    if (continued && this.#length === 0 && !this.#unwanted) this.#headless = true;
    const packets: Uint8Array[] = [];
    let from = 0;
    let to = 0;
    for (const length of lacing) {
      to += length;
      if (length === 255) continue;
      this.#add(body.subarray(from, to));
      from = to;
      if (!this.#headless) packets.push(this.#whole());
      this.#forget();
    }
    if (to > from) this.#add(body.subarray(from, to));
    return packets;
  }

  #add(piece: Uint8Array): void {
    if (this.#unwanted || this.#headless) return;
    this.#length += piece.length;
    if (this.#length > MAX_PACKET_BYTES) throw unreadable('The Ogg is broken: a packet in it is too large.');
    // A copy, because what a page lies in is read over.
    this.#pieces.push(piece.slice());
  }

  #whole(): Uint8Array {
    this.#index++;
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    const packet = new Uint8Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      packet.set(piece, at);
      at += piece.length;
    }
    return packet;
  }

  #forget(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#headless = false;
    this.#unwanted = this.#isUnwanted(this.#index);
  }
}
