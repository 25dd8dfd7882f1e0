import { IntegrationInput, integrations } from '../../contract/integrations.ts'
import { filtersOf, flagsOf, userFlag } from './derive-flags.ts'

const { baseUrl, rootAccountUuid, clientId, tokenUrl, gradeToProgress } = flagsOf(IntegrationInput)

/** Secrets and keys are read from standard input and files. */
export const fields = { baseUrl, rootAccountUuid, clientId, tokenUrl, gradeToProgress }

export const filters = filtersOf(integrations.list)

export const mappingFilters = filtersOf(
  integrations.mappings,
  {
    noun: { summary: 'Filter by noun' },
    course_id: { name: 'course', summary: 'Filter by course: id or external id' },
    user_id: {
      ...userFlag,
      summary: 'Filter by user: id, external id or e-mail address',
    },
  },
  ['external_key'],
)
