import type { Column, Row } from '../columns.ts';

/** Writes a file in one format. The pieces of the file follow the pages, so that memory does not grow with it. */
export type Format = (columns: readonly Column[], pages: AsyncIterable<readonly Row[]>) => AsyncIterable<Buffer>;
