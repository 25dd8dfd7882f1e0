import type { Child } from 'hono/jsx'
import { type App, AppInput, apps } from '../../contract/apps.ts'
import { type MachineScope, machineScopes } from '../../contract/constants.ts'
import { ownClientId } from '../../contract/oauth.ts'
import { findApp } from '../credentials/apps.ts'
import { ask } from './call-api.ts'
import { confirmationPage, secretPage } from './form.tsx'
import { goTo } from './frame.tsx'
import { listPage } from './list.tsx'
import { bodyIn, type RecordForm } from './record-form.tsx'
import { Day, takeLink } from './values.tsx'

const section = '/dashboard/apps'

const machineScopeTexts: Readonly<Record<MachineScope, string>> = {
  'roster.readonly': 'Read people, courses, terms and enrolments',
  'gradebook.readonly': 'Read grades',
  'gradebook.createput': 'Create and change line items and grades',
  'gradebook.delete': 'Delete line items and grades',
}

const appForm: RecordForm = {
  label: 'Register an application',
  button: 'Register application',
  body: AppInput,
  isOnce: true,
  fields: [
    { name: 'name', label: 'Name', hint: 'Shown to users when they are asked for consent' },
    {
      name: 'redirectUris',
      label: 'Redirect URIs',
      hint: 'One per line: https, or http on 127.0.0.1, [::1] or localhost. Not needed with machine scopes',
    },
    {
      name: 'public',
      label: 'Type',
      choices: [
        { value: 'false', words: 'confidential', meaning: 'Runs on a server that can keep a secret' },
        {
          value: 'true',
          words: 'public',
          meaning: "Runs on users' own devices or in their browsers; gets no secret",
        },
      ],
    },
    {
      name: 'machineScopes',
      label: 'Machine scopes',
      choices: machineScopes.map((scope) => ({
        value: scope,
        words: scope,
        meaning: machineScopeTexts[scope],
      })),
    },
  ],
}

/** For admins. */
const list = listPage<App>({
  path: section,
  title: 'Applications',
  heading: 'OAuth applications',
  intro:
    'An application asks users for consent, then acts on their behalf within the scopes they allow. One with machine scopes also acts for itself, without a user: it reads the academy over OneRoster.',
  operation: apps.list,
  hasNoFile: true,
  list: {
    id: 'apps',
    title: 'Registered applications',
    caption: 'Applications, newest first',
    columns: [
      { name: 'Name', cell: ({ name }) => name },
      { name: 'Client ID', look: 'broad', cell: ({ clientId }) => <code>{clientId}</code> },
      { name: 'Type', cell: (app) => (app.public ? 'public' : 'confidential') },
      {
        name: 'Redirect URIs',
        look: 'broad',
        cell: ({ redirectUris }) => uriList(redirectUris),
      },
      { name: 'Machine scopes', cell: ({ machineScopes: own }) => own.join(' ') || '–' },
      { name: 'Registered', cell: ({ createdAt }) => <Day time={createdAt} /> },
      {
        name: 'Delete',
        unseen: true,
        cell: ({ clientId, name }, signedIn) =>
          clientId === ownClientId ? (
            <span class="note word">Built in</span>
          ) : (
            takeLink(signedIn, `${section}/${clientId}/delete`, 'Delete', name)
          ),
      },
    ],
  },
  create: {
    title: 'Register an application',
    form: appForm,
    again: 'app_made_before',
    submit: async (inside, form) => {
      const app = await ask(inside, apps.create, { body: bodyIn(appForm, form) })
      // A public app has no secret to show, so its page may be reloaded.
      if (app.public) return goTo(inside, section, 'app_made')
      return secretPage(inside, {
        title: 'Your new application',
        heading: app.name,
        section,
        name: 'client secret',
        secret: app.clientSecret,
        facts: [
          ['Client ID', <code>{app.clientId}</code>],
          ['Redirect URIs', app.redirectUris.length > 0 && uriList(app.redirectUris)],
          ['Machine scopes', app.machineScopes.length > 0 && app.machineScopes.join(' ')],
        ],
        next: section,
      })
    },
  },
})

function uriList(uris: readonly string[]): Child {
  return (
    <ul class="plain">
      {uris.map((uri) => (
        <li>
          <code>{uri}</code>
        </li>
      ))}
    </ul>
  )
}

const deletion = confirmationPage({
  path: `${section}/:clientId/delete`,
  section,
  operation: apps.delete,
  find: ({ database, params }) => findApp(database, params['clientId'] ?? ''),
  title: ({ name }) => `Delete application ${name}?`,
  question: ({ name, clientId }) => (
    <>
      <strong>{name}</strong> (<code>{clientId}</code>) loses all access that users granted it, immediately.
      This cannot be undone.
    </>
  ),
  button: 'Delete application',
  done: 'app_deleted',
})

export const appPages = [...list, deletion]
