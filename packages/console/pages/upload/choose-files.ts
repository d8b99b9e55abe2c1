/** The kind of upload that the chosen files make. */
interface Chosen {
  readonly batches: readonly { readonly table: File; readonly archive: File | null }[];
  readonly recordings: readonly File[];
  /** Files that are neither, and archives without a CSV. */
  readonly useless: readonly File[];
}

const RECORDING = /\.(?:wav|mp3|flac|ogg|aiff|au)$/i;
export const ACCEPTED = '.csv,.zip,.wav,.mp3,.flac,.ogg,.aiff,.au';

const stemOf = ({ name }: File) => name.replace(/\.[^.]*$/, '').toLowerCase();

/**
 * Pairs each CSV with its archive: the one of the same name, or the only one where there is one CSV. A CSV without an
 * archive has transcripts.
 */
export function sortFiles(files: readonly File[]): Chosen {
  const tables = files.filter(({ name }) => /\.csv$/i.test(name));
  const archives = new Set(files.filter(({ name }) => /\.zip$/i.test(name)));
  const batches = tables.map((table) => {
    const only = tables.length === 1 && archives.size === 1 ? [...archives][0] : undefined;
    const archive = [...archives].find((each) => stemOf(each) === stemOf(table)) ?? only ?? null;
    if (archive !== null) archives.delete(archive);
    return { table, archive };
  });
  const recordings = files.filter(({ name }) => RECORDING.test(name));
  const useless = files.filter(({ name }) => !/\.(?:csv|zip)$/i.test(name) && !RECORDING.test(name));
  return { batches, recordings, useless: [...useless, ...archives] };
}
