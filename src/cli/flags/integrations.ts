import { IntegrationInput, integrations } from '../../contract/integrations.ts'
import { filtersOf, flagsOf, userFlag } from './derive-flags.ts'

const {
  baseUrl,
  rootAccountUuid,
  clientId,
  tokenUrl,
  gradeToProgress,
  gradeItems,
  defaultGradeMaximum,
  oldSecretEndsAt,
} = flagsOf(IntegrationInput, {
  gradeItems: {
    placeholder: '@file|json',
    file: 'read',
    summary: 'Grade items by their id there: {"12": {"name": "Quiz", "maximum": 20, "weight": 30}}',
  },
  oldSecretEndsAt: {
    name: 'old-secret-until',
    time: 'future',
    summary: 'How long the previous webhook secret is accepted, such as 7d (default 24h)',
  },
})

/** Secrets and keys are read from standard input, variables and files. */
export const fields = {
  baseUrl,
  rootAccountUuid,
  clientId,
  tokenUrl,
  gradeToProgress,
  gradeItems,
  defaultGradeMaximum,
  oldSecretEndsAt,
}

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
