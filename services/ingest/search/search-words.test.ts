import { randomUUID } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { tries } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { NO_FILTER } from '../listing/call-filter.ts';
import { countSpokenWords, listCalls } from '../listing/list-calls.ts';
import { anyFilter, anySort, CallListing, callOf, modelled, NEWEST, sampleCalls } from '../test/call-listing.ts';
import { faultOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import { indexWords } from './index-words.ts';

const service = new IngestUnderTest();
const listing = new CallListing(service);

describe('a search for words', () => {
  it('finds inflected forms in languages with a stemmer, and exact words in the others', async () => {
    const firmUuid = randomUUID();
    const [en, ru, es, uz, ky, unknown] = await listing.addTexts(firmUuid, [
      { text: 'Your payments were refunded twice', language: 'en' },
      { text: 'Ваши платежи вернулись ещё вчера', language: 'ru' },
      { text: 'Le devolvimos los pagos ayer', language: 'es' },
      { text: "Toʻlov bo’yicha ma'lumot oʼzgardi", language: 'uz' },
      { text: 'Төлөмүңүз кечээ келген', language: 'ky' },
      { text: 'Payments пришли', language: null },
    ]);
    expect(await listing.found(firmUuid, 'payment')).toEqual([en]);
    expect(await listing.found(firmUuid, 'refunding')).toEqual([en]);
    expect(await listing.found(firmUuid, 'платёж')).toEqual([ru]);
    expect(await listing.found(firmUuid, 'еще')).toEqual([ru]);
    expect(await listing.found(firmUuid, 'платежей вчера')).toEqual([ru]);
    expect(await listing.found(firmUuid, 'pago')).toEqual([es]);
    for (const spelling of ["to'lov", 'toʻlov', 'to`lov', 'tolov', 'TO’LOV'])
      expect(await listing.found(firmUuid, spelling)).toEqual([uz]);
    expect(await listing.found(firmUuid, "ma'lumot o'zgardi")).toEqual([uz]);
    expect(await listing.found(firmUuid, 'төлөмүңүз')).toEqual([ky]);
    expect(await listing.found(firmUuid, 'payments')).toEqual([en, unknown].toSorted());
  });

  it('treats frequent words like any other: alone, in phrases and excluded', async () => {
    const firmUuid = randomUUID();
    const [en, ru, es] = await listing.addTexts(firmUuid, [
      { text: 'You have to tell the manager', language: 'en' },
      { text: 'Так нельзя, верните мне деньги', language: 'ru' },
      { text: 'Dígale que tenga cuidado', language: 'es' },
    ]);
    expect(await listing.found(firmUuid, 'the')).toEqual([en]);
    expect(await listing.found(firmUuid, '"you have to"')).toEqual([en]);
    expect(await listing.found(firmUuid, '"you to"')).toEqual([]);
    expect(await listing.found(firmUuid, 'нельзя')).toEqual([ru]);
    expect(await listing.found(firmUuid, '"que tenga"')).toEqual([es]);
    expect(await listing.found(firmUuid, '-the')).toEqual([ru, es].toSorted());
  });

  it('finds phrases within one utterance only, and excludes words with a minus', async () => {
    const firmUuid = randomUUID();
    const [whole, apart] = await listing.addTexts(firmUuid, [
      { text: 'the parcel was lost<client>I am sorry', language: 'en' },
      { text: 'the parcel<client>lost it again', language: 'en' },
    ]);
    expect(await listing.found(firmUuid, 'parcel lost')).toEqual([whole, apart].toSorted());
    expect(await listing.found(firmUuid, '"parcel was lost"')).toEqual([whole]);
    expect(await listing.found(firmUuid, '"parcel lost"')).toEqual([]);
    expect(await listing.found(firmUuid, 'parcel -sorry')).toEqual([apart]);
    expect(await listing.found(firmUuid, '-sorry')).toEqual([apart]);
    expect(await listing.found(firmUuid, 'parcel', { operator_name: 'nobody' })).toEqual([]);
    expect(
      await listing.found(firmUuid, 'parcel', { score_min: 50, segment_type: ['support'], direction: ['inbound'] }),
    ).toHaveLength(2);
  });

  it('ignores punctuation and invisible characters, in the transcript and in the query', async () => {
    const firmUuid = randomUUID();
    const [en, ru, es, unknown] = await listing.addTexts(firmUuid, [
      {
        text: 'A “refund” was sent—really… By credit/debit card.Thanks, call 555-1234, bob@example.com, $1,500',
        language: 'en',
      },
      { text: 'Вам «письмо» — деньги—вернули…Спасибо, счёт №57', language: 'ru' },
      { text: '¿Cómo está? ¡Buenas tardes! ¿Cuánto?', language: 'es' },
      { text: '«Төлөм»—кечээ, par\u00adcel \u200frouter\u200f ☎️modem', language: null },
    ]);
    const ofEn = [
      'refund',
      '“refund”',
      'sent',
      'really',
      'credit',
      'debit',
      'card',
      'thanks',
      '1234',
      '555-1234',
      'bob',
      'example.com',
      '1,500',
      '$1,500.',
    ];
    for (const q of ofEn) expect([q, await listing.found(firmUuid, q)]).toEqual([q, [en]]);
    for (const q of ['письмо', '«деньги»', 'деньги—', 'вернули', 'спасибо', '57', '№57'])
      expect([q, await listing.found(firmUuid, q)]).toEqual([q, [ru]]);
    for (const q of ['cómo', '¿Cómo está?', 'buenas', '"buenas tardes"', '¡cuánto!'])
      expect([q, await listing.found(firmUuid, q)]).toEqual([q, [es]]);
    for (const q of ['төлөм', 'кечээ', 'parcel', 'router', 'modem', '☎️ modem'])
      expect([q, await listing.found(firmUuid, q)]).toEqual([q, [unknown]]);
    expect(await listing.found(firmUuid, '1234-555')).toEqual([]);
  });

  it('finds words of letters beyond U+FFFF, alone and among others, in every configuration', async () => {
    const firmUuid = randomUUID();
    const [deseret, adlam, plain] = await listing.addTexts(firmUuid, [
      { text: '𐐔𐐯𐑅𐐨𐑉𐐯𐐻 𐐁 𐑏𐐭𐑌𐐮𐑁𐐴𐐼 code', language: 'en' },
      { text: '𞤀𞤣𞤤𞤢𞤥, 𞤆𞤵𞤤𞤢𞤪', language: null },
      { text: 'code', language: 'en' },
    ]);
    expect(await listing.found(firmUuid, '𐑏𐐭𐑌𐐮𐑁𐐴𐐼')).toEqual([deseret]);
    for (const q of ['𐐁', '𐐩', '𐐼𐐯𐑅𐐨𐑉𐐯𐐻']) expect([q, await listing.found(firmUuid, q)]).toEqual([q, [deseret]]);
    expect(await listing.found(firmUuid, '"𐐁 𐑏𐐭𐑌𐐮𐑁𐐴𐐼 code"')).toEqual([deseret]);
    expect(await listing.found(firmUuid, '𞤆𞤵𞤤𞤢𞤪')).toEqual([adlam]);
    expect(await listing.found(firmUuid, '𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪')).toEqual([adlam]);
    expect(await listing.found(firmUuid, '𞤆𞤵𞤤𞤢')).toEqual([]);
    expect(await listing.found(firmUuid, 'code -𐐁')).toEqual([plain]);
  });

  it('knows no operators but quotes and a minus right before a word', async () => {
    const firmUuid = randomUUID();
    const [both, one] = await listing.addTexts(firmUuid, [
      { text: 'the wi-fi, sooner or later', language: 'en' },
      { text: 'the wi-fi, sooner', language: 'en' },
    ]);
    const all = [both, one].toSorted();
    expect(await listing.found(firmUuid, 'sooner - later')).toEqual([both]);
    expect(await listing.found(firmUuid, 'sooner or later')).toEqual([both]);
    expect(await listing.found(firmUuid, 'sooner OR nothing')).toEqual([]);
    expect(await listing.found(firmUuid, 'wi-fi -later')).toEqual([one]);
    expect(await listing.found(firmUuid, 'sooner -"or later"')).toEqual([one]);
    expect(await listing.found(firmUuid, 'sooner -“later or”')).toEqual(all);
    expect(await listing.found(firmUuid, 'the -wi-fi')).toEqual([]);
    expect(await listing.found(firmUuid, '"the wi-fi" & sooner')).toEqual(all);
    expect(await listing.found(firmUuid, '"sooner')).toEqual(all);
    expect(await listing.found(firmUuid, '!sooner:* | (the)')).toEqual(all);
  });

  it('finds the words of recordings, and only the new ones after a recording was transcribed again', async () => {
    const firmUuid = randomUUID();
    const call = callOf({ source: 'audio' });
    await listing.add(firmUuid, [call]);
    await service.db.query(`UPDATE call SET tagged_text = NULL, language = 'en' WHERE uuid = $1`, [call.uuid]);
    const transcribe = (text: string) =>
      service.db.query(
        `INSERT INTO transcript (firm_uuid, call_uuid, body) VALUES ($1, $2, $3)
         ON CONFLICT (firm_uuid, call_uuid) DO UPDATE SET body = excluded.body`,
        [firmUuid, call.uuid, deflateRawSync(JSON.stringify([{ role: 'client', text, start: 0, end: 1 }]))],
      );
    await transcribe('my router is broken');
    expect(await listing.found(firmUuid, 'routers')).toEqual([call.uuid]);
    await transcribe('my modem is broken');
    expect(await listing.found(firmUuid, 'routers')).toEqual([]);
    expect(await listing.found(firmUuid, 'modem')).toEqual([call.uuid]);
  });

  it('works with every filter and sort, and with the cursor', async () => {
    const firmUuid = randomUUID();
    // Words are indexed once a call has ended.
    const calls = sampleCalls(40, 3).map((call) => ({
      ...call,
      status: call.status === 'failed' ? 'failed' : 'completed',
    }));
    await listing.add(firmUuid, calls, '<operator>needle in a haystack');
    await listing.add(firmUuid, [callOf()], '<operator>nothing');
    await fc.assert(
      fc.asyncProperty(anyFilter, anySort, async (filter, sort) => {
        expect(await listing.walk(firmUuid, { ...filter, q: 'needle' }, sort, 9)).toEqual(
          modelled(calls, filter, sort),
        );
      }),
      { numRuns: tries(40) },
    );
  });

  it('says until when words are found while some are not indexed', async () => {
    const firmUuid = randomUUID();
    const call = callOf({ status: 'queued', outcome: null, score: null });
    await listing.add(firmUuid, [call], '<operator>needle');
    const { deps } = service;
    const asked = () =>
      listCalls(deps, firmUuid, {
        filter: { ...NO_FILTER, q: 'needle' },
        sort: NEWEST,
        page: 1,
        cursor: null,
        size: 10,
      });
    expect(await asked()).toMatchObject({ items: [], wordsUntil: null });
    await service.db.query(`UPDATE call SET status = 'completed' WHERE uuid = $1`, [call.uuid]);
    const [queued] = await service.db.query<{ at: Date }>('SELECT at FROM queued_words WHERE uuid = $1', [call.uuid]);
    expect(await asked()).toMatchObject({ items: [], wordsUntil: queued!.at });
    expect(await indexWords(deps.db, null)).toBe(1);
    expect(await asked()).toMatchObject({ items: [{ uuid: call.uuid }], wordsUntil: null });
  });

  it('knows which calls end or change their language in one statement for many', async () => {
    const firmUuid = randomUUID();
    const queued = () => callOf({ status: 'queued', outcome: null, score: null, language: null });
    const [first, second, english, russian] = [
      queued(),
      queued(),
      callOf({ language: 'en' }),
      callOf({ language: 'ru' }),
    ];
    const calls = [first, second, english, russian];
    await listing.add(firmUuid, calls, '<operator>needle');
    expect(await listing.found(firmUuid, 'needle')).toEqual([english.uuid, russian.uuid].toSorted());
    await service.db.query(`UPDATE call SET status = 'completed', language = 'en' WHERE uuid = ANY($1)`, [
      calls.map(({ uuid }) => uuid),
    ]);
    const rows = await service.db.query<{ uuid: string }>('SELECT uuid FROM queued_words WHERE firm_uuid = $1', [
      firmUuid,
    ]);
    expect(rows.map(({ uuid }) => uuid).toSorted()).toEqual([first.uuid, second.uuid, russian.uuid].toSorted());
    const all = calls.map(({ uuid }) => uuid).toSorted();
    expect(await listing.found(firmUuid, 'needles', { status: ['completed'], language: 'en' })).toEqual(all);
  });

  it('reads each call a few times, also while statistics do not know the firm yet', async () => {
    const firmUuid = randomUUID();
    const { deps } = service;
    const calls = 4_000;
    await service.db.query(
      `INSERT INTO call (firm_uuid, uuid, source, status, client_phone_number, operator_name, segment_type, start_time, tagged_text)
       SELECT $1, uuidv7(), 'transcription', 'completed', '+998901234567', 'Ann', 'support', now(), '<operator>needle'
       FROM generate_series(1, ${calls})`,
      [firmUuid],
    );
    const read = async () => {
      // The connection of the index of words is the one that was used last.
      await deps.db.query('SELECT pg_stat_force_next_flush()');
      const [row] = await service.db.query<{ scans: number; rows: number }>(
        `SELECT sum(idx_scan)::int AS scans, sum(idx_tup_read)::int AS rows FROM pg_stat_user_indexes WHERE relid = 'call'::regclass`,
      );
      return row!;
    };
    const before = await read();
    const indexed = await indexWords(deps.db, firmUuid);
    expect(indexed).toBeGreaterThan(0);
    let after = await read();
    while (after.scans - before.scans < indexed) after = await read();
    expect(after.rows - before.rows).toBeLessThan(20 * indexed);
  });

  it('refuses a query without a word, and accepts any other text', async () => {
    const firmUuid = randomUUID();
    await listing.add(firmUuid, [callOf()]);
    for (const q of ['🙂', '"', '-', '&&& | !', '   ', '""', '- -']) {
      expect(await faultOf(listing.ask(firmUuid, { q }))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { fields: [{ field: 'q' }] },
      });
    }
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ maxLength: 255 }), fc.string({ unit: 'grapheme', maxLength: 200 })),
        async (text) => {
          await listing.ask(firmUuid, { q: `a ${text.replaceAll('\0', '')}` });
        },
      ),
      { numRuns: tries(60) },
    );
    expect(await listing.found(firmUuid, 'the')).toEqual([]);
    expect(await listing.found(firmUuid, `${'x'.repeat(255)}`)).toEqual([]);
    expect(await listing.found(firmUuid, "hello' & '#every_english_word")).toEqual([]);
  });

  it('finds at least the beginning of a very long conversation with many different words', async () => {
    const firmUuid = randomUUID();
    const words = Array.from({ length: 150_000 }, (_, index) => `word${index}x`).join(' ');
    const [uuid] = await listing.addTexts(firmUuid, [{ text: words, language: 'en' }]);
    expect(await listing.found(firmUuid, 'word7x')).toEqual([uuid]);
  });
});

describe('the words that were said', () => {
  it('are those of the firm’s calls that match, as they were written, with the number of these calls', async () => {
    const firmUuid = randomUUID();
    await listing.addTexts(randomUUID(), [{ text: 'Somebody else', language: 'en' }]);
    await listing.addTexts(firmUuid, [
      { text: 'Parcels, PARCELS! My card is 4000 1234', language: 'en' },
      { text: 'Toʻlov parcels', language: 'uz' },
      { text: 'Посылки', language: 'ru' },
    ]);
    await service.deps.words.catchUp(firmUuid, 60_000);
    const counted = await countSpokenWords(service.deps, firmUuid, { ...NO_FILTER, q: 'parcels' });
    expect(counted.calls).toBe(2);
    expect(counted.items[0]).toEqual({ word: 'parcels', calls: 2 });
    expect(new Set(counted.items.slice(1).map(({ word }) => word))).toEqual(new Set(['my', 'card', 'is', 'toʻlov']));
    expect(await countSpokenWords(service.deps, firmUuid, { ...NO_FILTER, q: 'посылки' })).toEqual({
      calls: 1,
      items: [{ word: 'посылки', calls: 1 }],
    });
    expect(await countSpokenWords(service.deps, randomUUID(), NO_FILTER)).toEqual({ calls: 0, items: [] });
  });
});
