import { text } from 'node:stream/consumers';
import { AudioExtractionRequested, CallsAccepted } from '@call-analysis/events';
import { Fault } from '@call-analysis/fault';
import { waitUntil } from '@call-analysis/testing';
import { describe, expect, it } from '@jest/globals';
import AdmZip from 'adm-zip';
import { announceCalls } from '../batches/announce-calls.ts';
import { audioCsvOf, type AudioRow, csvOf } from '../test/csv.ts';
import { faultOf, fileNames, objectsBut, zipOf } from '../test/fixtures.ts';
import { IngestUnderTest } from '../test/ingest-under-test.ts';
import type { RowFault } from './rows/row-fault.ts';
import type { Owner } from './upload-store.ts';

const service = new IngestUnderTest();

const nothing = { calls: 0, recordings: 0, batches: 0, rejected_files: 0, objects: 0 };

interface Refused {
  rows: number;
  valid: number;
  invalid: number;
  faults: RowFault[];
  faults_truncated: boolean;
  rejected_uuid: string | null;
}

async function refusalOf(promise: Promise<unknown>): Promise<Refused> {
  const fault = await faultOf(promise);
  expect(fault).toMatchObject({ kind: 'invalid', code: 'VALIDATION_FAILED' });
  return fault.details as unknown as Refused;
}

function codesOf({ faults }: Refused): [number | null, string][] {
  return faults.map(({ row, code }) => [row, code]);
}

/** One row for each file. */
function rowsFor(names: readonly string[]): AudioRow[] {
  return names.map((audio_file_name) => ({ audio_file_name }));
}

interface Stored {
  uuid: string;
  source: string;
  status: string;
  duration: number | null;
  file_name: string;
  left_role: string;
  right_role: string;
  object_key: string | null;
  priority: number;
  entry: { bytes: number; raw_name: string };
}

/** The firm's calls with their recordings, in the order of their uuids. */
async function recordingsOf({ firmUuid }: Owner): Promise<Stored[]> {
  return service.db.query(
    `SELECT call.uuid, source, status, call.duration, file_name, left_role, right_role, object_key, turn AS priority, entry
     FROM call JOIN recording ON recording.firm_uuid = call.firm_uuid AND recording.call_uuid = call.uuid
     WHERE call.firm_uuid = $1 ORDER BY call.uuid`,
    [firmUuid],
  );
}

describe('a batch of recordings', () => {
  it('becomes one call a row with its entry, and requests each extraction exactly once', async () => {
    const requested = await service.collect(AudioExtractionRequested);
    const owner = service.newOwner();
    const names = ['b.wav', 'Звонок.mp3', 'a.FLAC'];
    const rows = rowsFor(names);
    rows[1] = { ...rows[1], left_channel: 'Client', right_channel: 'OPERATOR', partner_call_id: 'p' };
    const archive = zipOf([...names].toReversed());
    const batch = await service.uploadBatch(owner, audioCsvOf(rows), archive);
    expect(batch).toMatchObject({
      kind: 'audio',
      accepted: 3,
      duplicates: 0,
      rejected: 0,
      archiveBytes: archive.length,
    });
    const calls = await recordingsOf(owner);
    expect(calls).toMatchObject([
      {
        source: 'audio',
        status: 'queued',
        duration: null,
        file_name: 'b.wav',
        left_role: 'operator',
        right_role: 'client',
      },
      { file_name: 'Звонок.mp3', left_role: 'client', right_role: 'operator', object_key: null },
      {
        file_name: 'a.FLAC',
        entry: { bytes: 'bytes of a.FLAC'.length, raw_name: Buffer.from('a.FLAC').toString('base64') },
      },
    ]);
    await waitUntil(() => requested.length >= 3);
    expect(requested.map(({ subject }) => subject).toSorted()).toEqual(calls.map(({ uuid }) => uuid));
    for (const { subject, firmuuid, priority, data } of requested) {
      const call = calls.find(({ uuid }) => uuid === subject)!;
      expect({ firmuuid, priority }).toEqual({ firmuuid: owner.firmUuid, priority: 1 });
      expect(data).toEqual({
        attempt: 1,
        archive_key: batch.archiveKey,
        archive_bytes: archive.length,
        file_name: call.file_name,
        entry: call.entry,
      });
    }
    expect(await service.objectsOf(owner)).toEqual([batch.archiveKey]);
  });

  it('is announced in ranges, and later rows have later priorities', async () => {
    const requested = await service.collect(AudioExtractionRequested);
    const accepted = await service.collect(CallsAccepted);
    const owner = service.newOwner();
    const names = fileNames(1_007);
    const batch = await service.uploadBatch(owner, audioCsvOf(rowsFor(names)), zipOf(names));
    const calls = await recordingsOf(owner);
    await waitUntil(() => requested.length >= 500 && accepted.length >= 2);
    for (const event of accepted) {
      await announceCalls(service.deps, event);
      await announceCalls(service.deps, event);
    }
    await waitUntil(() => requested.length >= 1_007);
    const priorities = new Map(requested.map(({ subject, priority }) => [subject, priority]));
    expect(calls.map(({ uuid }) => priorities.get(uuid))).toEqual(names.map((_, index) => 1 + Math.floor(index / 10)));
    expect(requested).toHaveLength(1_007);
    expect(
      accepted.toSorted((a, b) => a.priority - b.priority).map(({ subject, priority }) => [subject, priority]),
    ).toEqual([
      [batch.uuid, 1],
      [batch.uuid, 2],
    ]);
  });

  it('is the same batch when its keys are processed again, one after the other or concurrently', async () => {
    const owner = service.newOwner();
    const names = fileNames(300);
    const { metadataKey, audiosKey } = await service.putBatch(owner, audioCsvOf(rowsFor(names)), zipOf(names));
    const batches = await Promise.all(
      Array.from({ length: 4 }, () => service.process(owner, metadataKey, { audiosKey })),
    );
    for (const batch of batches) expect(batch).toEqual(batches[0]);
    await service.expire(metadataKey);
    expect(await service.process(owner, metadataKey, { audiosKey })).toEqual(batches[0]);
    expect(await service.tracesOf(owner)).toEqual({ ...nothing, calls: 300, recordings: 300, batches: 1, objects: 1 });
  });

  it('consists of the bytes that were validated, even when other files are put at the same keys in the meantime', async () => {
    const owner = service.newOwner();
    const archive = zipOf(['a.wav']);
    const { metadataKey, audiosKey } = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), archive);
    const { objects } = service.deps;
    const changed = objectsBut(objects, {
      async copy(from, to) {
        await objects.copy(from, to);
        await service.putAt(from, 'something else');
      },
    });
    const batch = await service.process(owner, metadataKey, { audiosKey }, { objects: changed });
    expect(batch).toMatchObject({ accepted: 1 });
    expect(await text(await objects.open(batch.archiveKey!))).toBe(archive.toString());
  });

  it('counts calls that the firm already has as duplicates, and keeps no archive when there are only duplicates', async () => {
    const owner = service.newOwner();
    const rows = [
      { partner_call_id: 'x', audio_file_name: 'a.wav' },
      { partner_call_id: 'y', audio_file_name: 'b.wav' },
    ];
    const first = await service.uploadBatch(owner, audioCsvOf(rows), zipOf(['a.wav', 'b.wav']));
    const again = await service.uploadBatch(owner, audioCsvOf(rows), zipOf(['a.wav', 'b.wav']));
    expect(again).toMatchObject({ accepted: 0, duplicates: 2, archiveKey: null });
    const more = [...rows, { partner_call_id: 'z', audio_file_name: 'c.wav' }];
    const third = await service.uploadBatch(owner, audioCsvOf(more), zipOf(['a.wav', 'b.wav', 'c.wav']));
    expect(third).toMatchObject({ accepted: 1, duplicates: 2 });
    expect((await recordingsOf(owner)).map((call) => call.file_name)).toEqual(['a.wav', 'b.wav', 'c.wav']);
    expect(new Set(await service.objectsOf(owner))).toEqual(new Set([first.archiveKey, third.archiveKey]));
  });

  it('is all or nothing: when its events cannot be published, nothing is kept, and a repeated request succeeds', async () => {
    const owner = service.newOwner();
    const { metadataKey, audiosKey } = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), zipOf(['a.wav']));
    const broken = new Error('no publishing');
    const bus = { ...service.deps.bus, publish: () => Promise.reject(broken) };
    await expect(service.process(owner, metadataKey, { audiosKey }, { bus })).rejects.toBe(broken);
    expect(await service.tracesOf(owner)).toEqual(nothing);
    expect(await service.process(owner, metadataKey, { audiosKey })).toMatchObject({ accepted: 1 });
  });

  it('leaves its archive to the sweep when the commit may have succeeded', async () => {
    const owner = service.newOwner();
    const { metadataKey, audiosKey } = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), zipOf(['a.wav']));
    const lost = new Fault('unavailable', 'UNAVAILABLE', 'The connection was lost during the commit.');
    const bus = { ...service.deps.bus, publish: () => Promise.reject(lost) };
    await expect(service.process(owner, metadataKey, { audiosKey }, { bus })).rejects.toBe(lost);
    expect(await service.objectsOf(owner)).toEqual([expect.stringMatching(/\.zip$/)]);
  });
});

describe('an upload of recordings that cannot be processed', () => {
  it('is not found when one of its files is missing', async () => {
    const owner = service.newOwner();
    for (const put of ['metadata', 'audios'] as const) {
      const opened = await service.openUpload(owner, `${put}.csv`, `${put}.zip`);
      const audiosKey = opened.audio_key!;
      await service.putAt(
        put === 'metadata' ? opened.metadata_key : audiosKey,
        put === 'metadata' ? audioCsvOf(rowsFor(['a.wav'])) : zipOf(['a.wav']),
      );
      const fault = await faultOf(service.process(owner, opened.metadata_key, { audiosKey }));
      expect(fault).toMatchObject({ kind: 'invalid', code: 'UPLOAD_NOT_FOUND' });
      expect(fault.message).toContain(put === 'metadata' ? 'audios_key' : 'metadata_key');
    }
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });

  it('is not found when its two keys belong to different uploads', async () => {
    const owner = service.newOwner();
    const one = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), zipOf(['a.wav']), 'one.csv');
    const other = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), zipOf(['a.wav']), 'other.csv');
    const mixed = service.process(owner, one.metadataKey, { audiosKey: other.audiosKey });
    expect(await faultOf(mixed)).toMatchObject({ kind: 'invalid', code: 'UPLOAD_NOT_FOUND' });
  });

  it('has the wrong kind without audios_key', async () => {
    const owner = service.newOwner();
    const { metadataKey } = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), zipOf(['a.wav']));
    expect(await faultOf(service.process(owner, metadataKey))).toMatchObject({ code: 'UPLOAD_KIND_MISMATCH' });
  });

  it('is refused when its archive is one byte over the limit, and accepted at the limit', async () => {
    const owner = service.newOwner();
    const archive = zipOf(['a.wav']);
    const { metadataKey, audiosKey } = await service.putBatch(owner, audioCsvOf(rowsFor(['a.wav'])), archive);
    const under = (zipBytes: number) =>
      service.process(owner, metadataKey, { audiosKey }, { limits: { ...service.deps.limits, zipBytes } });
    expect(await faultOf(under(archive.length - 1))).toMatchObject({
      kind: 'invalid',
      code: 'FILE_TOO_LARGE',
      details: { size_bytes: archive.length, limit_bytes: archive.length - 1 },
    });
    expect(await service.tracesOf(owner)).toEqual(nothing);
    expect(await under(archive.length)).toMatchObject({ accepted: 1 });
  });

  const nested = () => zipOf(['a.wav', 'folder/b.wav']);
  const unsafe = () => zipOf(['a.wav', 'A.WAV']);
  it.each([
    ['INVALID_ZIP', 'no ZIP', () => Buffer.from('not a zip')],
    ['INVALID_ZIP', 'empty', () => Buffer.alloc(0)],
    ['NESTED_FOLDER', 'with a folder', nested],
    ['UNSAFE_ARCHIVE', 'with two entries of one name', unsafe],
  ])('is refused with %s for an archive that is %s, before any fault of its rows', async (code, _, archive) => {
    const owner = service.newOwner();
    const csv = audioCsvOf([{ audio_file_name: 'a.wav', operator_name: '' }]);
    const { metadataKey, audiosKey } = await service.putBatch(owner, csv, archive());
    for (const onError of ['reject', 'skip'] as const) {
      expect(await faultOf(service.process(owner, metadataKey, { audiosKey, onError }))).toMatchObject({
        kind: 'invalid',
        code,
      });
    }
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });

  it('is refused for its CSV as a file, even for the last line, before its archive', async () => {
    const owner = service.newOwner();
    const csv = audioCsvOf(Array.from({ length: 3_000 }, () => ({ operator_name: '' })));
    const { metadataKey, audiosKey } = await service.putBatch(owner, `${csv}"`, nested());
    expect(await faultOf(service.process(owner, metadataKey, { audiosKey }))).toMatchObject({ code: 'INVALID_CSV' });
    await service.putAt(metadataKey, csv.replace('left_channel', 'left'));
    expect(await faultOf(service.process(owner, metadataKey, { audiosKey }))).toMatchObject({
      code: 'MISSING_COLUMN',
      details: { columns: ['left_channel'] },
    });
    await service.putAt(metadataKey, csv);
    expect(await faultOf(service.process(owner, metadataKey, { audiosKey }))).toMatchObject({ code: 'NESTED_FOLDER' });
    expect(await service.tracesOf(owner)).toEqual(nothing);
  });
});

describe('rows of recordings with faults', () => {
  it('are all reported together, followed by the files that no row names', async () => {
    const owner = service.newOwner();
    const rows: AudioRow[] = [
      { audio_file_name: 'good.wav' },
      { audio_file_name: 'missing.wav', left_channel: 'agent' },
      { audio_file_name: 'good.wav' },
      { audio_file_name: 'notes.txt' },
      { audio_file_name: 'refused.wav', operator_name: '', left_channel: 'client' },
      { audio_file_name: 'Unnamed.wav', start_time: '1767323045', segment_type: 'x', client_phone_number: '1' },
      { audio_file_name: '', right_channel: '' },
    ];
    const archive = zipOf(['good.wav', 'notes.txt', 'refused.wav', 'unnamed.wav', '.DS_Store', '__MACOSX/._good.wav']);
    const refused = await refusalOf(service.uploadBatch(owner, audioCsvOf(rows), archive));
    expect(refused).toMatchObject({ rows: 7, valid: 1, invalid: 6, faults_truncated: false });
    expect(codesOf(refused)).toEqual([
      [3, 'FILE_NOT_IN_ARCHIVE'],
      [3, 'INVALID_CHANNEL'],
      [4, 'FILE_LISTED_TWICE'],
      [5, 'INVALID_FILE_FORMAT'],
      [6, 'REQUIRED'],
      [6, 'SAME_CHANNEL'],
      [7, 'FILE_NOT_IN_ARCHIVE'],
      [7, 'INVALID_PHONE_NUMBER'],
      [7, 'INVALID_DATETIME'],
      [7, 'UNKNOWN_SEGMENT_TYPE'],
      [8, 'REQUIRED'],
      [8, 'REQUIRED'],
      [null, 'FILE_NOT_IN_CSV'],
    ]);
    expect(refused.faults.at(-1)).toMatchObject({ row: null, column: null, value: 'unnamed.wav' });
    expect(refused.faults.find(({ row, column }) => row === 7 && column === 'audio_file_name')?.message).toContain(
      'unnamed.wav',
    );
    expect(await service.tracesOf(owner)).toEqual({ ...nothing, rejected_files: 1, objects: 1 });
  });

  it('need not exist: an archive with a file that no row names is refused too, without a CSV of rejected rows', async () => {
    const owner = service.newOwner();
    const names = fileNames(150);
    const upload = (onError: 'reject' | 'skip') =>
      service.uploadBatch(owner, audioCsvOf(rowsFor(['call-7.wav'])), zipOf(names), onError);
    const refused = await refusalOf(upload('reject'));
    expect(refused).toMatchObject({ rows: 1, valid: 1, invalid: 0, faults_truncated: true, rejected_uuid: null });
    expect(refused.faults).toHaveLength(100);
    expect(new Set(refused.faults.map(({ code }) => code))).toEqual(new Set(['FILE_NOT_IN_CSV']));
    expect(await service.tracesOf(owner)).toEqual(nothing);
    expect(await upload('skip')).toMatchObject({ accepted: 1, rejected: 0, rejectedUuid: null });
  });

  it('show invisible characters of a row and of a name in the archive', async () => {
    const { faults } = await refusalOf(
      service.uploadBatch(service.newOwner(), audioCsvOf([{ audio_file_name: 'a\u200b.wav' }]), zipOf(['\u200ea.wav'])),
    );
    expect(faults.map(({ code, message }) => [code, /invisible characters: (.*)\.$/.exec(message)?.[1]])).toEqual([
      ['FILE_NOT_IN_ARCHIVE', '"a[U+200B].wav"'],
      ['FILE_NOT_IN_CSV', '"[U+200E]a.wav"'],
    ]);
  });

  it('skipped with on_error "skip" include the files that no row names, which are counted in every answer', async () => {
    const owner = service.newOwner();
    const rows = [{ audio_file_name: 'a.wav' }, { audio_file_name: 'b.wav', operator_name: '' }];
    const { metadataKey, audiosKey } = await service.putBatch(
      owner,
      audioCsvOf(rows),
      zipOf(['a.wav', 'b.wav', 'c.wav', 'd.wav']),
    );
    const process = () => service.process(owner, metadataKey, { audiosKey, onError: 'skip' });
    const batch = await process();
    expect(batch).toMatchObject({ accepted: 1, rejected: 1, unnamedFiles: 2 });
    expect(await process()).toEqual(batch);
  });

  it('are not reported for a CSV of transcripts: the answer says what it is and how to upload it', async () => {
    const owner = service.newOwner();
    expect(await faultOf(service.uploadBatch(owner, csvOf([{}]), zipOf(['a.wav'])))).toMatchObject({
      code: 'MISSING_COLUMN',
      message: expect.stringMatching(
        /^The header lacks these columns: audio_file_name, right_channel, left_channel\. .* This looks like the CSV of transcripts: start a new upload without audios_filename\.$/,
      ),
      details: { columns: ['audio_file_name', 'right_channel', 'left_channel'] },
    });
  });

  it('are skipped with on_error "skip", counted, and stored in a CSV that is accepted with the same archive once corrected', async () => {
    const owner = service.newOwner();
    const rows: AudioRow[] = [
      { audio_file_name: 'a.wav', partner_call_id: 'a' },
      { audio_file_name: 'b.wav', operator_name: '' },
      { audio_file_name: 'c.wav', partner_call_id: 'a' },
    ];
    const archive = zipOf(['a.wav', 'b.wav', 'c.wav', 'd.wav']);
    const batch = await service.uploadBatch(owner, audioCsvOf(rows), archive, 'skip');
    expect(batch).toMatchObject({ accepted: 1, duplicates: 0, rejected: 2 });
    const key = await service.deps.rejectedFiles.keyOf(owner.firmUuid, batch.rejectedUuid!, new Date());
    const rejected = await text(await service.deps.objects.open(key));
    expect(rejected.match(/REQUIRED|DUPLICATE_ROW/g)).toEqual(['REQUIRED', 'DUPLICATE_ROW']);
    const corrected = rejected.replace('+998901234567,,', '+998901234567,Bekzod,').replace(',a,', ',c,');
    expect(await service.uploadBatch(owner, corrected, archive, 'skip')).toMatchObject({ accepted: 2, rejected: 0 });
    expect((await recordingsOf(owner)).map((call) => call.file_name)).toEqual(['a.wav', 'b.wav', 'c.wav']);
  });

  it('can be corrected by putting new files at the same keys within the hour', async () => {
    const owner = service.newOwner();
    const csv = audioCsvOf(rowsFor(['a.wav', 'b.wav']));
    const { metadataKey, audiosKey } = await service.putBatch(owner, csv, zipOf(['a.wav']));
    await refusalOf(service.process(owner, metadataKey, { audiosKey }));
    await service.putAt(audiosKey, zipOf(['a.wav', 'b.wav']));
    expect(await service.process(owner, metadataKey, { audiosKey })).toMatchObject({ accepted: 2 });
  });

  it('can be all rows: with on_error "skip", the batch has no calls and no archive', async () => {
    const owner = service.newOwner();
    const batch = await service.uploadBatch(owner, audioCsvOf(rowsFor(['a.wav'])), zipOf(['b.wav']), 'skip');
    expect(batch).toMatchObject({ accepted: 0, rejected: 1, archiveKey: null });
    expect(await service.objectsOf(owner)).toEqual([expect.stringMatching(/^rejected\//)]);
  });
});

describe('a name in an archive', () => {
  it('in an old code page is found by either of its readings', async () => {
    const owner = service.newOwner();
    const zip = new AdmZip();
    zip.addFile('xxxxxx.wav', Buffer.from('bytes'));
    // «Звонок» in CP866, without the UTF-8 flag. It is not valid UTF-8.
    const cp866 = Buffer.from('87a2aeadaeaa', 'hex').toString('latin1');
    const archive = Buffer.from(zip.toBuffer().toString('latin1').replaceAll('xxxxxx', cp866), 'latin1');
    for (let at = archive.indexOf('PK\x01\x02'); at >= 0; at = archive.indexOf('PK\x01\x02', at + 1)) {
      archive.writeUInt16LE(archive.readUInt16LE(at + 8) & ~0x800, at + 8);
    }
    const batch = await service.uploadBatch(owner, audioCsvOf(rowsFor(['Звонок.wav'])), archive);
    expect(batch).toMatchObject({ accepted: 1 });
    const [call] = await recordingsOf(owner);
    expect(call).toMatchObject({ file_name: 'Звонок.wav' });
    expect(Buffer.from(call!.entry.raw_name, 'base64').toString('latin1')).toBe(`${cp866}.wav`);
  });
});
