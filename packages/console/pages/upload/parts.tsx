import { type ComponentProps, useRef } from 'react';
import type { Schemas } from '../../api/client.ts';
import { saveFile } from '../../api/save-file.ts';
import * as format from '../../i18n/format.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { uploadTexts } from '../texts.ts';

type ButtonProps = Pick<ComponentProps<typeof Button>, 'kind' | 'icon' | 'isSmall'>;

interface FileButtonProps extends ButtonProps {
  readonly name: string;
  /** The endings of the files that it takes. */
  readonly accept: string;
  readonly isMany?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** A button that asks for files. */
export function FileButton({ name, accept, isMany = false, onFiles, ...button }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button {...button} onClick={() => input.current?.click()}>
        {name}
      </Button>
      <input
        ref={input}
        type="file"
        multiple={isMany}
        hidden
        accept={accept}
        aria-label={name}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file may be chosen again after it was corrected.
          target.value = '';
        }}
      />
    </>
  );
}

/** Downloads the rows that were refused, where there are any. */
export function RefusedRows({ url, ...button }: ButtonProps & { url: string | null }) {
  const t = uploadTexts.use();
  const save = useAction((of: string) => saveFile(of, t('rejectedName')));
  if (url === null) return null;
  return (
    <Button icon="download" {...button} onClick={() => save.mutate(url)}>
      {t('rejected')}
    </Button>
  );
}

/** What became of the rows of a file. */
export function acceptedText({
  accepted,
  duplicates,
  rejected,
}: Pick<Schemas['Batch'], 'accepted' | 'duplicates' | 'rejected'>) {
  return uploadTexts.translate('accepted', {
    n: accepted,
    accepted: format.number(accepted),
    duplicates: format.number(duplicates),
    rejected: format.number(rejected),
  });
}
