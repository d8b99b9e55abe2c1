import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { CallListing } from '../test/call-listing.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';

const service = new IngestUnderTest();
const listing = new CallListing(service);

/** The matched texts of a call that was found by `q`. */
async function matched(text: string, language: string | null, q: string): Promise<string[]> {
  const firmUuid = randomUUID();
  const [uuid] = await listing.addTexts(firmUuid, [{ text, language }]);
  const { matches } = await listing.ask(firmUuid, { q });
  const utterances = text.split('<client>');
  return (matches.get(uuid!) ?? []).map(({ utterance, start_char, end_char }) =>
    utterances[utterance]!.trim().slice(start_char, end_char),
  );
}

describe('the matches of a search', () => {
  it('are the places of a word in any of its forms, three at most', async () => {
    expect(await matched('We refund it. Refunds take days.<client>Refunded? My refund!', 'en', 'refunding')).toEqual([
      'refund',
      'Refunds',
      'Refunded',
    ]);
    expect(await matched('Где посылка?<client>Посылки нет', 'ru', 'посылку')).toEqual(['посылка', 'Посылки']);
  });

  it('are whole phrases within one utterance', async () => {
    expect(await matched('call me back<client>back later, call me', 'en', '"call me"')).toEqual(['call me', 'call me']);
    expect(await matched('I call<client>me call you, call me', 'en', '"call me"')).toEqual(['call me']);
  });

  it('have the place of the text as it was said, with its apostrophes and accents', async () => {
    expect(await matched('Oʻktam aka 👍 o‘ktam', null, "o'ktam")).toEqual(['Oʻktam', 'o‘ktam']);
    expect(await matched('El pedido… ¿está aquí?', 'es', 'está')).toEqual(['está']);
  });

  it('are found in each call of a long page by the stems of its own language', async () => {
    const firmUuid = randomUUID();
    const texts = Array.from({ length: 24 }, (_, at) =>
      at % 2 === 0 ? { text: `${at} refunds`, language: 'en' } : { text: `${at} нет refund`, language: 'ru' },
    );
    const uuids = await listing.addTexts(firmUuid, texts);
    const { matches } = await listing.ask(firmUuid, { q: 'refund' }, { size: 100 });
    const places = uuids.map((uuid) => matches.get(uuid));
    expect(places).toEqual(
      texts.map(({ text }) => [{ utterance: 0, start_char: text.indexOf('refund'), end_char: text.length }]),
    );
  });

  it('leave out words that the search excludes', async () => {
    expect(await matched('refund of the parcel', 'en', 'parcel -money')).toEqual(['parcel']);
  });
});
