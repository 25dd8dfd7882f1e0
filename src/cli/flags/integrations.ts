import { IntegrationInput, integrations } from '../../contract/integrations.ts'
import { filtersOf, flagsOf, userFlag } from './derive-flags.ts'

const { baseUrl, rootAccountUuid, clientId, tokenUrl, gradeToProgress, gradeItems } = flagsOf(
  IntegrationInput,
  {
    gradeItems: {
      placeholder: '@file|json',
      file: 'read',
      summary: 'Grade items by their id there: {"12": {"name": "Quiz", "maximum": 20, "weight": 30}}',
    },
  },
)

/** Secrets and keys are read from standard input, variables and files. */
export const fields = { baseUrl, rootAccountUuid, clientId, tokenUrl, gradeToProgress, gradeItems }

export const filters = filtersOf(integrations.list)

export const mappingFilters = filtersOf(integrations.mappings, {
  noun: { summary: 'Filter by noun' },
  external_key: { name: 'key', summary: 'Filter by key in the other system' },
  course_id: { name: 'course', summary: 'Filter by course: id or external id' },
  user_id: {
    ...userFlag,
    summary: 'Filter by user: id, external id or e-mail address',
  },
})
