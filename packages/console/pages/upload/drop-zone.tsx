import { useRef, useState } from 'react';
import { Button } from '../../widgets/controls.tsx';
import { Icon } from '../../widgets/icon.tsx';
import { uploadTexts } from '../texts.ts';
import { ACCEPTED } from './choose-files.ts';

/** Takes files that are dropped on it or chosen. */
export function DropZone({ onFiles }: { onFiles: (files: readonly File[]) => void }) {
  const t = uploadTexts.use();
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  return (
    <div
      className={isOver ? 'card upload-drop upload-drop-over' : 'card upload-drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      <Icon name="upload" size={28} />
      <h2>{t('drop.title')}</h2>
      <ul className="upload-kinds">
        <li>{t('drop.transcripts')}</li>
        <li>{t('drop.archive')}</li>
        <li>{t('drop.recordings')}</li>
      </ul>
      <Button kind="primary" onClick={() => input.current?.click()}>
        {t('drop.choose')}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={ACCEPTED}
        aria-label={t('drop.choose')}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file may be chosen again after it was corrected.
          target.value = '';
        }}
      />
    </div>
  );
}
