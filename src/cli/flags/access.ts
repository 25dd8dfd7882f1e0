import { AppInput, apps } from '../../contract/apps.ts'
import { audit } from '../../contract/audit.ts'
import { CalendarInput, calendars } from '../../contract/calendars.ts'
import { deliveries } from '../../contract/deliveries.ts'
import { EndpointInput, endpoints } from '../../contract/endpoints.ts'
import { grants } from '../../contract/grants.ts'
import { IntegrationInput, integrations } from '../../contract/integrations.ts'
import { KeyInput, keys } from '../../contract/keys.ts'
import { messages } from '../../contract/messages.ts'
import { SettingsInput } from '../../contract/settings.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const appFlags = {
  fields: flagsOf(AppInput, {
    redirectUris: { name: 'redirect-uri', placeholder: 'uri', required: true, unless: 'machineScopes' },
    machineScopes: { kind: 'words', unlisted: ['--machine'] },
  }),
  filters: filtersOf(apps.list),
}

export const auditFilters = filtersOf(
  audit.list,
  {
    user_id: { summary: 'Filter by who did it: id, external id or e-mail address' },
    credential: { summary: 'Filter by credential: id of a key or grant, browser or local' },
    action: { summary: 'Filter by action, such as course.published', hasChoicesInSummary: true },
    noun: { summary: 'Filter by type of record' },
    subject_id: { name: 'subject', summary: 'Filter by the id of the record' },
    change_id: { name: 'change', summary: 'Filter by the id of the change of many records' },
  },
  ['request_id'],
)

export const calendarFlags = {
  fields: flagsOf(CalendarInput),
  filters: filtersOf(calendars.list, {
    course_id: { placeholder: 'course' },
    user_id: { kind: 'texts', placeholder: 'user' },
  }),
}

export const grantFilters = filtersOf(grants.list, {
  user_id: {
    summary: 'List the grants of another user: id, external id or e-mail address (admins only)',
  },
})

export const keyFlags = {
  fields: flagsOf(KeyInput, {
    userId: { default: 'you' },
    scopes: { kind: 'words', unlisted: ['--scope'] },
    expiresAt: { time: 'future', unlisted: ['--expires'], never: true, default: 'one year' },
  }),
  filters: filtersOf(keys.list, {
    user_id: { summary: 'Filter by owner: id, external id or e-mail address' },
  }),
}

export const settingFields = flagsOf(SettingsInput)

export const integrationFlags = {
  fields: flagsOf(
    IntegrationInput,
    {},
    ['baseUrl', 'rootAccountUuid', 'clientId', 'tokenUrl', 'gradeToProgress'],
    [
      ...['accessToken', 'clientSecret', 'refreshToken', 'webhookSecrets', 'oldSecretEndsAt'],
      ...['jwksUrl', 'jwks', 'defaultGradeMaximum'],
    ],
  ),
  filters: filtersOf(integrations.list),
  mappingFilters: filtersOf(integrations.mappings, {}, ['external_key']),
}

export const endpointFields = flagsOf(
  EndpointInput,
  {
    url: { name: 'to', placeholder: 'url' },
    events: { kind: 'words', placeholder: 'event,…', hasChoicesInSummary: true },
    'chat.digestTimezone': { placeholder: 'zone' },
    'chat.courseIds': { name: 'course' },
    'xapi.homePage': { placeholder: 'url' },
    'xapi.username': { placeholder: 'name' },
    'xapi.tokenUrl': { placeholder: 'url' },
    expiresAt: { time: 'future', never: true, default: 'never' },
  },
  [],
  ['chat.atRiskOnly', 'xapi.scope'],
)

export const endpointChanges = (({ kind: _, ...fields }) => fields)(endpointFields)

export const endpointFilters = filtersOf(endpoints.list)

export const messageFilters = filtersOf(
  messages.list,
  { endpoint_id: { name: 'endpoint', summary: 'Filter by endpoint: its id' } },
  ['type'],
)

export const deliveryFilters = filtersOf(
  deliveries.list,
  {
    lms_kind: { name: 'kind', summary: 'Filter by kind of system' },
    since: { unlisted: ['--received-since'] },
  },
  ['received_since'],
)
