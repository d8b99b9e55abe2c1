import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type SignedUrls, urlSigner } from './signed-urls.ts';

const signer = urlSigner('a secret of thirty-two bytes or more');

function verify(url: string, method = 'PUT', now = new Date()) {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  return signer.verify(method, pathname, searchParams, now);
}

/** The same URL in other encodings. */
function meaning(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://gateway');
  try {
    return JSON.stringify([decodeURIComponent(pathname), ...searchParams]);
  } catch {
    return 'none';
  }
}

describe('signed URLs', () => {
  const url = signer.sign('PUT', 'uz/f/u/Звонки 100%?#&.csv', 3600, 1000);

  it('allow their method on their key, up to their limit', () => {
    expect(verify(url)).toEqual({ key: 'uz/f/u/Звонки 100%?#&.csv', maxBytes: 1000 });
  });

  it('survive clients that decode and encode paths differently', () => {
    const [path = '', query] = url.split('?');
    const encoded = path.replaceAll('.', '%2E').replaceAll('%D0', '%d0');
    expect(verify(`${encoded}?${query}`)).toMatchObject({ maxBytes: 1000 });
  });

  it('expire to the second', () => {
    const expiry = Number(new URL(url, 'http://gateway').searchParams.get('expires')) * 1000;
    expect(verify(url, 'PUT', new Date(expiry - 1))).toMatchObject({ maxBytes: 1000 });
    expect(verify(url, 'PUT', new Date(expiry))).toEqual({ refused: 'expired' });
  });

  it('allow no other method', () => {
    const refused = { refused: 'not-signed' };
    expect(verify(url, 'GET')).toEqual(refused);
    expect(verify(url.replace('method=PUT', 'method=GET'), 'GET')).toEqual(refused);
    expect(verify(url.replace('method=PUT', 'method=GET'))).toEqual(refused);
    expect(verify(signer.sign('GET', 'a', 60, 0), 'PUT')).toEqual(refused);
  });

  it('are refused with another secret', () => {
    const other = urlSigner('another secret of thirty-two bytes!!');
    expect(verify(other.sign('PUT', 'a', 60, 1))).toEqual({ refused: 'not-signed' });
  });

  it('that the previous secret signed are valid while it is configured, and new ones are signed by the new secret', () => {
    const [before, next] = ['a secret of thirty-two bytes or more', 'another secret of thirty-two bytes!!'];
    const allows = (verifier: SignedUrls, signed: string) => {
      const { pathname, searchParams } = new URL(signed, 'http://service');
      return verifier.verify('PUT', pathname, searchParams);
    };
    const changing = urlSigner(next, before);
    expect(allows(changing, url)).toMatchObject({ maxBytes: 1000 });
    expect(allows(urlSigner(next), changing.sign('PUT', 'a', 60, 1))).toMatchObject({ key: 'a' });
    expect(allows(urlSigner(next), url)).toEqual({ refused: 'not-signed' });
  });

  it('are refused with one character changed', () => {
    const letters = 'abcXYZ019%/._-&=+'.split('');
    fc.assert(
      fc.property(fc.nat(url.length - 1), fc.constantFrom(...letters), (at, letter) => {
        const altered = url.slice(0, at) + letter + url.slice(at + 1);
        fc.pre(meaning(altered) !== meaning(url));
        expect(verify(altered)).toEqual({ refused: 'not-signed' });
      }),
    );
  });

  it.each([
    ['a parameter twice', `${url}&max=1000`],
    ['a further parameter', `${url}&x=1`],
    ['no signature', url.slice(0, url.indexOf('&signature'))],
    ['a signature in another case', url.replace(/signature=(.*)$/, (_, it: string) => `signature=${it.toLowerCase()}`)],
    ['a way up in the path', url.replace('/objects/uz/', '/objects/uz/x/%2e%2e%2f')],
    ['a bad percent sign', url.replace('%20', '%2')],
  ])('are worth nothing with %s', (_, altered) => {
    expect(verify(altered)).toEqual({ refused: 'not-signed' });
  });

  it('cannot be signed with a short secret', () => {
    expect(() => urlSigner('short')).toThrow('32 bytes');
  });
});
