import { IntegrationInput, integrations } from '../../contract/integrations.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

const { baseUrl, rootAccountUuid, clientId, tokenUrl, gradeToProgress } = flagsOf(IntegrationInput)

/** Secrets and keys are read from standard input and files. */
export const fields = { baseUrl, rootAccountUuid, clientId, tokenUrl, gradeToProgress }

export const filters = filtersOf(integrations.list)

export const mappingFilters = filtersOf(integrations.mappings, {}, ['external_key'])
