import type { Caller } from '@call-analysis/proto/desk/v1/Caller';
import { requireCaller } from '@call-analysis/service';
import { z } from 'zod';
import type { DeskCaller } from './caller.ts';

export const PageRequest = z.object({ page: z.int().min(1), size: z.int().min(1).max(100) });

/** A reply in the API's own shape. */
export function answer(json: unknown) {
  return { json: JSON.stringify(json) };
}

export function callerOf(caller: Caller | null): DeskCaller {
  return {
    ...requireCaller(caller),
    role: caller?.role ?? '',
    seenOperators: caller?.sees_only?.operator_ids ?? null,
  };
}
