import type { CalibrationPage } from '@call-analysis/api/desk';
import type { Dated } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import { type Database, type Page, readPage, type Sql } from '@call-analysis/postgres';
import type { z } from 'zod';
import { CURRENT_ANALYSIS } from '../calls/call-row.ts';

/** Calls that several people review without seeing each other's answers. */
export type Calibration = Dated<z.output<typeof CalibrationPage>['items'][number], 'due' | 'created_at' | 'closed_at'>;

export interface CalibratedCall {
  readonly call_uuid: string;
  /** Its questions are answered, also after the call has been analysed anew. */
  readonly analysis_uuid: string;
}

/** Null: the question does not apply. */
export interface GivenAnswer {
  readonly call_uuid: string;
  readonly user_uuid: string;
  readonly question_uuid: string;
  readonly answer: string | null;
}

const COLUMNS = 'uuid, name, due, user_uuids AS users, by_uuid AS by, created_at, closed_at';

/** Calibrations. Every statement is limited to one firm. */
export function calibrations(db: Database) {
  return {
    /**
     * Those of the calls that have a current analysis, with its uuid. They cannot be erased until the transaction ends, and one that is
     * being erased is waited for.
     */
    async keepCalls(tx: Sql, firmUuid: string, callUuids: readonly string[]): Promise<Map<string, string>> {
      const rows = await tx.query<{ uuid: string; analysis: string | null }>(
        `SELECT uuid, ${CURRENT_ANALYSIS} AS analysis FROM call
         WHERE firm_uuid = $1 AND uuid = ANY($2::uuid[]) ORDER BY uuid FOR KEY SHARE OF call`,
        [firmUuid, callUuids],
      );
      return new Map(rows.flatMap(({ uuid, analysis }) => (analysis === null ? [] : [[uuid, analysis]])));
    },

    async add(tx: Sql, firmUuid: string, calibration: Calibration, calls: readonly CalibratedCall[]): Promise<void> {
      const { uuid, name, due, users, by, created_at } = calibration;
      await tx.query(
        `INSERT INTO calibration (firm_uuid, uuid, name, due, user_uuids, by_uuid, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [firmUuid, uuid, name, due, users, by, created_at],
      );
      await tx.query(
        `INSERT INTO calibration_call (firm_uuid, calibration_uuid, call_uuid, analysis_uuid, position)
         SELECT $1, $2, * FROM unnest($3::uuid[], $4::uuid[]) WITH ORDINALITY`,
        [firmUuid, uuid, calls.map(({ call_uuid }) => call_uuid), calls.map(({ analysis_uuid }) => analysis_uuid)],
      );
    },

    /** Newest first. With a user, those that the user has made or is invited to. */
    async list(firmUuid: string, userUuid: string | null, page: Page) {
      const matching =
        'FROM calibration WHERE firm_uuid = $1 AND ($2::uuid IS NULL OR by_uuid = $2 OR $2 = ANY(user_uuids))';
      const values = [firmUuid, userUuid];
      return readPage<Calibration>(db, { columns: COLUMNS, matching, values, orderBy: 'uuid DESC' }, page);
    },

    /** In a transaction it is locked until the end. Fault NOT_FOUND. */
    async get(firmUuid: string, uuid: string, tx?: Sql): Promise<Calibration> {
      const [found] = await (tx ?? db).query<Calibration>(
        `SELECT ${COLUMNS} FROM calibration WHERE firm_uuid = $1 AND uuid = $2 ${tx === undefined ? '' : 'FOR UPDATE'}`,
        [firmUuid, uuid],
      );
      if (found === undefined) throw notFound('calibration');
      return found;
    },

    /** Without calls that were erased. */
    async calls(sql: Sql, firmUuid: string, uuid: string): Promise<CalibratedCall[]> {
      return sql.query<CalibratedCall>(
        `SELECT call_uuid, analysis_uuid FROM calibration_call
         WHERE firm_uuid = $1 AND calibration_uuid = $2 ORDER BY position`,
        [firmUuid, uuid],
      );
    },

    async answers(sql: Sql, firmUuid: string, uuid: string): Promise<GivenAnswer[]> {
      return sql.query<GivenAnswer>(
        `SELECT call_uuid, user_uuid, question_uuid, answer
         FROM calibration_answer WHERE firm_uuid = $1 AND calibration_uuid = $2`,
        [firmUuid, uuid],
      );
    },

    /** Instead of the person's earlier answers about the call. */
    async answer(
      tx: Sql,
      firmUuid: string,
      uuid: string,
      { call_uuid, user_uuid }: Pick<GivenAnswer, 'call_uuid' | 'user_uuid'>,
      answers: readonly Pick<GivenAnswer, 'question_uuid' | 'answer'>[],
    ): Promise<void> {
      const which = [firmUuid, uuid, call_uuid, user_uuid];
      await tx.query(
        'DELETE FROM calibration_answer WHERE firm_uuid = $1 AND calibration_uuid = $2 AND call_uuid = $3 AND user_uuid = $4',
        which,
      );
      await tx.query(
        `INSERT INTO calibration_answer (firm_uuid, calibration_uuid, call_uuid, user_uuid, question_uuid, answer)
         SELECT $1, $2, $3, $4, * FROM unnest($5::uuid[], $6::text[])`,
        [...which, answers.map(({ question_uuid }) => question_uuid), answers.map(({ answer }) => answer)],
      );
    },

    async close(tx: Sql, firmUuid: string, uuid: string, at: Date): Promise<void> {
      await tx.query('UPDATE calibration SET closed_at = $3 WHERE firm_uuid = $1 AND uuid = $2', [firmUuid, uuid, at]);
    },
  };
}

export type Calibrations = ReturnType<typeof calibrations>;
