import { IntegrationInput, integrations } from '../../contract/integrations.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

/** Secrets and keys are read from standard input and files. */
export const fields = flagsOf(
  IntegrationInput,
  {},
  ['baseUrl', 'rootAccountUuid', 'clientId', 'tokenUrl', 'gradeToProgress'],
  [
    'accessToken',
    'clientSecret',
    'refreshToken',
    'webhookSecrets',
    'oldSecretEndsAt',
    'jwksUrl',
    'jwks',
    'defaultGradeMaximum',
  ],
)

export const filters = filtersOf(integrations.list)

export const mappingFilters = filtersOf(integrations.mappings, {}, ['external_key'])
