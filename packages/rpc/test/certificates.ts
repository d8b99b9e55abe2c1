import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import type { Tls } from '../wire/tls.ts';

// X.509 version 3 (RFC 5280) in DER, as far as a test needs it: no program has to be installed for it.

const DAY_MS = 86_400_000;

/** An authority that hands out certificates for names and addresses. */
interface Authority {
  readonly ca: string;
  issue(names: readonly string[], validFrom?: Date, validTo?: Date): Tls;
}

export function newAuthority(name: string): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const whenever = { from: new Date(Date.now() - DAY_MS), to: new Date(Date.now() + 3650 * DAY_MS) };
  const isAuthority = extension('551d13', sequence(Buffer.from('0101ff', 'hex')), true);
  const ca = certificate({ subject: name, publicKey: own.publicKey, ...whenever, extension: isAuthority });

  function certificate(what: {
    subject: string;
    publicKey: KeyObject;
    from: Date;
    to: Date;
    extension: Buffer;
  }): string {
    const algorithm = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
    const signed = sequence(
      der(0xa0, der(0x02, Buffer.from([2]))),
      der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
      algorithm,
      named(name),
      sequence(time(what.from), time(what.to)),
      named(what.subject),
      what.publicKey.export({ type: 'spki', format: 'der' }),
      der(0xa3, sequence(what.extension)),
    );
    const signature = sign('sha256', signed, own.privateKey);
    const body = sequence(signed, algorithm, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
    // OpenSSL refuses an empty line, so none follows a full last line.
    const lines = body.toString('base64').match(/.{1,64}/g)!;
    return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
  }

  return {
    ca,
    issue(names, validFrom = whenever.from, validTo = whenever.to) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = names.map((each) =>
        isIP(each) === 4 ? der(0x87, Buffer.from(each.split('.').map(Number))) : der(0x82, Buffer.from(each)),
      );
      const cert = certificate({
        subject: names[0] ?? 'nobody',
        publicKey,
        from: validFrom,
        to: validTo,
        extension: extension('551d11', sequence(...alternatives), false),
      });
      return { ca, cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string };
    },
  };
}

function der(tag: number, body: Buffer): Buffer {
  const size = body.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** A distinguished name of a common name alone. */
function named(commonName: string): Buffer {
  const attribute = sequence(der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(commonName)));
  return sequence(der(0x31, attribute));
}

function time(date: Date): Buffer {
  return der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function extension(oid: string, value: Buffer, isCritical: boolean): Buffer {
  const critical = isCritical ? [Buffer.from('0101ff', 'hex')] : [];
  return sequence(der(0x06, Buffer.from(oid, 'hex')), ...critical, der(0x04, value));
}
