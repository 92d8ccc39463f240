import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Button, FileTrigger, Input, Label, TextField } from 'react-aria-components';
import { api, query, type Schemas } from '../../api/client.ts';
import { sayer } from '../../messages/language.ts';
import { announce } from '../../parts/announcer.tsx';
import { Panel } from '../../parts/page.tsx';
import { Loading, Problem } from '../../parts/states.tsx';
import { Preview } from './preview.tsx';

const say = sayer('settings');

type Change = Schemas['BrandingChange'];

/** The logo and the colour of the pages for people. Each change is shown before it is saved. */
export function Branding() {
  const { data, error, refetch } = query.useQuery('get', '/v1/me/branding');
  return (
    <Panel title={say('branding')}>
      <p className="aside">{say('brandingText')}</p>
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && <Editor key={`${data.accentColor} ${data.logoUrl}`} held={data} />}
    </Panel>
  );
}

function Editor({ held }: { readonly held: Schemas['Branding'] }) {
  const queries = useQueryClient();
  const [colour, paint] = useState(held.accentColor ?? '');
  const [logo, take] = useState<{ readonly base64: string | null }>();
  const change: Change = {
    accentColor: colour === '' ? null : colour,
    ...(logo !== undefined && { logo: logo.base64 }),
  };
  const preview = useMutation({
    mutationFn: (body: Change) => api.POST('/v1/me/branding/preview', { body }),
  });
  const save = useMutation({
    mutationFn: () => api.PATCH('/v1/me/branding', { body: change }),
    onSuccess: async () => {
      announce(say('saved'));
      await queries.invalidateQueries({ queryKey: ['get', '/v1/me/branding'] });
    },
  });
  const isColour = colour === '' || /^#[0-9a-f]{6}$/i.test(colour);
  const { mutate } = preview;
  const asked = JSON.stringify(change);
  useEffect(() => {
    const timer = setTimeout(() => isColour && mutate(JSON.parse(asked)), 300); // once the reader stops typing
    return () => clearTimeout(timer);
  }, [asked, isColour, mutate]);

  return (
    <div className="branding">
      <div className="form">
        <div className="field">
          <TextField value={colour} onChange={paint} isInvalid={!isColour}>
            <Label>{say('colour')}</Label>
            <Input placeholder="#0b5a68" spellCheck="false" />
          </TextField>
          <input
            type="color"
            aria-label={say('pick')}
            value={isColour && colour !== '' ? colour : '#0b5a68'}
            onChange={({ target }) => paint(target.value)}
          />
        </div>
        {!isColour && <p className="aside">{say('colourForm')}</p>}
        <div className="actions">
          <FileTrigger
            acceptedFileTypes={['image/png']}
            onSelect={(files) => {
              const file = files?.item(0);
              if (file) void base64Of(file).then((base64) => take({ base64 }));
            }}
          >
            <Button className="button">{say('chooseLogo')}</Button>
          </FileTrigger>
          {(held.logoUrl || logo?.base64) && (
            <Button className="button" onPress={() => take({ base64: null })}>
              {say('removeLogo')}
            </Button>
          )}
        </div>
        {preview.error && <Problem error={preview.error} title={say('noPreview')} />}
        {save.error && <Problem error={save.error} />}
        <Button
          className="button strong"
          isDisabled={!isColour || save.isPending}
          onPress={() => save.mutate()}
        >
          {say('save')}
        </Button>
      </div>
      {preview.data?.data ? <Preview html={preview.data.data.html} /> : <Loading />}
    </div>
  );
}

/** The file as the API takes it. */
async function base64Of(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
