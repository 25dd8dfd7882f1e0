import { Ajv2020 } from 'ajv/dist/2020.js'
import { schemaOfPrinted } from '../../src/cli/help/describe-command.ts'
import { resultSchemas } from '../../src/cli/results/output-schemas.ts'

const schemas = await resultSchemas('#/$defs/')
const [open, strict] = [schemas, withoutMore(schemas)].map((defs) =>
  new Ajv2020({ strict: false, validateFormats: false }).addSchema({ $id: 'results', $defs: defs }),
) as [Ajv2020, Ajv2020]

/** Returns how a value differs from the named schemas of what a command prints; undeclared fields are differences. */
export function differencesFrom(printed: readonly string[], value: unknown): string[] {
  // All fields of an integration are declared elsewhere than its secret.
  const ajv = printed.includes('SetIntegration') ? open : strict
  const validate = ajv.compile(schemaOfPrinted(printed, 'results#/$defs/'))
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`
  })
}

/** Returns a schema whose objects have no undeclared fields. */
function withoutMore(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutMore)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, withoutMore(member)]),
  )
  const isObject = 'properties' in schema && typeof schema.properties === 'object' && 'type' in schema
  return isObject && !('additionalProperties' in schema)
    ? { ...members, additionalProperties: false }
    : members
}
