import { deliveries } from '../../contract/deliveries.ts'
import { EndpointInput, endpoints } from '../../contract/endpoints.ts'
import { messages } from '../../contract/messages.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

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
