import { eventPatterns } from '../../contract/actions.ts'
import { EndpointInput, type EndpointKind, endpointKinds } from '../../contract/endpoints.ts'
import { type Actor, actors } from '../../contract/statements.ts'
import type { FormField, FormPart, RecordForm } from './record-form.tsx'

export const kindWords: Readonly<Record<EndpointKind, string>> = {
  standard: 'Standard Webhooks',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  xapi: 'Learning record store (xAPI)',
}

export function endpointForm(kind?: string): RecordForm {
  const isChat = kind === 'slack' || kind === 'teams'
  return {
    label: kind === undefined ? 'Create endpoint' : 'Save changes',
    button: kind === undefined ? 'Create endpoint' : 'Save changes',
    body: EndpointInput,
    action: 'save',
    ...(kind === undefined && { isOnce: true }),
    fields: [
      ...(kind === undefined ? [kindField] : []),
      {
        name: 'url',
        label: 'URL',
        hint: `https, or http where the server allows it${isChat || kind === undefined ? '. That of Slack and Teams is a secret: it is not shown again' : ''}`,
      },
      { name: 'events', label: 'Events', choices: eventChoices },
      { name: 'description', label: 'Description', hint: 'What the endpoint is for' },
      ...(isChat ? chatFields : []),
      ...(kind === 'xapi' ? xapiFields('Never shown. Leave it empty to keep it') : []),
      ...(kind === undefined ? settingsOfKinds : []),
    ],
  }
}

const kindField: FormField = {
  name: 'kind',
  label: 'Kind',
  choices: endpointKinds.map((kind) => ({ value: kind, words: kindWords[kind] })),
}

const nounWords: Readonly<Record<string, string>> = { enrollment: 'Enrolment' }

/** All, then by noun: patterns for whole nouns (`course.*`), each with its events. */
const eventChoices = eventPatterns.map((pattern) => {
  if (pattern === '*') return { value: pattern, words: 'All events' }
  const [noun = ''] = pattern.split('.')
  const fold = `${nounWords[noun] ?? noun[0]?.toUpperCase() + noun.slice(1)} events`
  return { value: pattern, words: <code>{pattern}</code>, fold }
})

const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  words: `${String(hour).padStart(2, '0')}:00`,
}))

const chatFields: readonly (FormField | FormPart)[] = [
  {
    name: 'schedule',
    of: 'chat',
    label: 'When messages are sent',
    choices: [
      { value: 'immediately', words: 'When something happens' },
      { value: 'daily', words: 'Once a day, as a digest' },
    ],
  },
  { name: 'digestHour', of: 'chat', label: 'Hour of the digest', look: 'select', choices: hours },
  {
    name: 'digestTimezone',
    of: 'chat',
    label: 'Time zone of the digest',
    hint: 'IANA time zone, such as Europe/Vienna. Empty for UTC',
  },
  {
    name: 'courseIds',
    of: 'chat',
    label: 'Courses',
    hint: 'Ids or external ids, one per line. Empty for all courses',
  },
  {
    legend: 'Content',
    fields: [
      { name: 'atRiskOnly', of: 'chat', label: 'Only learners who need attention, in a digest' },
      {
        name: 'learnerNames',
        of: 'chat',
        label: 'Write the names of learners, which the other system then stores',
      },
    ],
  },
]

const actorWords: Readonly<Record<Actor, string>> = {
  id: 'By id, which reveals least',
  'external-id': 'By external id, else by id',
  email: 'By e-mail address',
}

function xapiFields(passwordHint: string): FormField[] {
  return [
    { name: 'xapiVersion', of: 'xapi', label: 'Version of xAPI' },
    {
      name: 'actor',
      of: 'xapi',
      label: 'How learners are named',
      choices: actors.map((actor) => ({ value: actor, words: actorWords[actor] })),
    },
    {
      name: 'homePage',
      of: 'xapi',
      label: 'URL of the academy',
      hint: 'Accounts, activities and ids begin with it',
    },
    {
      name: 'username',
      of: 'xapi',
      label: 'User name or client ID',
      hint: 'Of the record store, or the client ID if there is a token URL',
    },
    { name: 'password', label: 'Password or client secret', hint: passwordHint },
    {
      name: 'tokenUrl',
      of: 'xapi',
      label: 'Token URL',
      hint: 'Where access tokens are granted (OAuth 2.0). Empty for Basic authentication',
    },
    {
      name: 'scope',
      of: 'xapi',
      label: 'Scope of the access token',
      hint: 'Empty for that of the client',
    },
  ]
}

const settingsOfKinds: readonly FormPart[] = [
  {
    summary: 'Settings: Slack and Teams',
    isOpen: (form) => ['slack', 'teams'].includes(form.get('kind') ?? ''),
    fields: chatFields,
  },
  {
    summary: 'Settings: Learning record store',
    isOpen: (form) => form.get('kind') === 'xapi',
    fields: xapiFields('Stored encrypted, and never shown'),
  },
]
