/** Encrypts what is stored; reads what is not encrypted as it is. */
export interface ValueCipher {
  encrypt(plain: Buffer): Buffer;
  decrypt(stored: Buffer): Buffer;
  encryptText(plain: string): string;
  decryptText(stored: string): string;
}

class Confidential {
  readonly value: string | Buffer;

  constructor(value: string | Buffer) {
    this.value = value;
  }
}

/**
 * A value of conversation text among the values of a query, or in an array of them. It is stored encrypted where the
 * database has a cipher. Reading needs nothing: columns of text and bytes are decrypted as they are read.
 */
export function confidential<Value extends string | Buffer | null>(value: Value): unknown {
  return value === null ? null : new Confidential(value);
}

/** The values as they are to be stored. */
export function conceal(values: readonly unknown[], cipher: ValueCipher | null): readonly unknown[] {
  if (!values.some(isConfidential)) return values;
  const stored = (value: unknown) => (value instanceof Confidential ? concealed(value.value, cipher) : value);
  return values.map((value) => (Array.isArray(value) ? value.map(stored) : stored(value)));
}

function isConfidential(value: unknown): boolean {
  return value instanceof Confidential || (Array.isArray(value) && value.some((each) => each instanceof Confidential));
}

function concealed(value: string | Buffer, cipher: ValueCipher | null): string | Buffer {
  if (cipher === null) return value;
  return typeof value === 'string' ? cipher.encryptText(value) : cipher.encrypt(value);
}

type Parse = (value: string) => unknown;

const TEXT = 25;
const BYTES = 17;
const LIST_OF_BYTES = 1001;

/** Reads a column of the type as `parse` does, and decrypts it. */
export function revealing(oid: number, parse: Parse, cipher: ValueCipher): Parse {
  switch (oid) {
    case TEXT:
      return (value) => cipher.decryptText(value);
    case BYTES:
      return (value) => cipher.decrypt(parse(value) as Buffer);
    case LIST_OF_BYTES:
      return (value) => (parse(value) as (Buffer | null)[]).map((each) => each && cipher.decrypt(each));
    default:
      return parse;
  }
}
