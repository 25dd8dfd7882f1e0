import { AppInput, apps } from '../../contract/apps.ts'
import { filtersOf, flagsOf } from './derive-flags.ts'

export const fields = flagsOf(
  AppInput,
  { redirectUris: { name: 'redirect-uri', placeholder: 'uri', asked: true } },
  [],
  ['machineScopes'],
)

export const filters = filtersOf(apps.list)
