import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { showsSchema } from '../../../src/cli/command/command.ts'
import { printedBy } from '../../../src/cli/help/describe-command.ts'
import { schemaOfPrinted } from '../../../src/cli/help/printed.ts'
import { resultSchemas } from '../../../src/cli/results/output-schemas.ts'
import { testCli } from '../../helpers/cli.ts'
import { inProcesses, openExamples } from '../../helpers/examples.ts'
import { allCommands } from '../../helpers/host.ts'
import { helpExamples } from '../examples/help-examples.ts'

/** Commands whose output is not compared here, with the reason. */
const notRun: Readonly<Record<string, string>> = {
  'server start': 'runs in a process of its own',
  'webhooks listen': 'runs in a process of its own',
  'webhooks endpoints test': 'needs a receiver',
}

const schemas = await resultSchemas('#/$defs/')
const [open, strict] = [schemas, closed(schemas)].map((defs) =>
  new Ajv2020({ strict: false, validateFormats: false }).addSchema({ $id: 'results', $defs: defs }),
) as [Ajv2020, Ajv2020]
const commands = await allCommands()
const withJson = commands.filter(([, command]) => showsSchema(command))
const lines = await exampleLines()

describe('--schema', () => {
  test('is offered by the commands that print JSON', async () => {
    const printing = []
    for (const [path, command] of commands) if ((await printedBy(command)).length > 0) printing.push(path)
    expect(withJson.map(([path]) => path)).toEqual(printing.filter((path) => path !== 'validate'))
  })

  test('needs no academy, no argument and no required flag', async () => {
    const cli = testCli()
    for (const line of ['courses get', 'users create', 'progress set', 'apply', 'undo', 'help']) {
      const { code, stdout, stderr } = await cli.run(`${line} --schema`)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout)).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' })
    }
    expect(await cli.run('courses delete --schema')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: --schema is not supported by `learnctl courses delete`\n  It prints no JSON\n',
    })
    cli.remove()
  })

  test('all schemas are JSON Schema of 2020-12, and lead somewhere', async () => {
    const ajv = new Ajv2020({
      strict: true,
      strictTypes: false,
      strictRequired: false,
      validateFormats: false,
    })
    ajv.compile({ $defs: schemas, anyOf: Object.keys(schemas).map((name) => ({ $ref: `#/$defs/${name}` })) })
    for (const [path, command] of withJson) {
      for (const name of await printedBy(command))
        expect(Object.keys(schemas), path).toContain(name.replace('[]', ''))
    }
  })

  test('of help describes all commands as help --json prints them', async () => {
    const cli = testCli()
    const { stdout } = await cli.run('help --json')
    cli.remove()
    const document = JSON.parse(stdout)
    expect(faultsOf(document, ['Help'])).toEqual([])
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const { output } of document.commands) {
      if (output !== null) ajv.compile({ ...output, schemas: document.schemas })
    }
  })
})

describe('the output of', async () => {
  const place = await openExamples({ LEARNCTL_OUTPUT: 'json' })
  beforeEach(() => place.reset())
  afterAll(() => place.close())

  test('each command is compared with its schema', () => {
    const compared = new Set(lines.map(([, path]) => path))
    const missing = withJson.map(([path]) => path).filter((path) => !compared.has(path))
    expect(missing.sort()).toEqual(Object.keys(notRun).sort())
  })

  test.for(lines)('%s has its schema', async ([line, path]) => {
    const { stdout, stderr } = await place.run(line)
    expect(stdout, stderr).not.toBe('')
    const command = commands.find(([each]) => each === path)?.[1]
    const printed = command ? await printedBy(command) : []
    expect(faultsOf(JSON.parse(stdout), printed)).toEqual([])
  })
})

/** Returns an example in help of each command that prints JSON, made to print it, and others with another result. */
async function exampleLines(): Promise<(readonly [line: string, path: string])[]> {
  const { examples } = await helpExamples()
  const printing = new Set(withJson.map(([path]) => path))
  const first = new Map<string, string>()
  for (const [line, path] of examples) {
    const whole = line.replace(/ \| .*| > \S+| -o \w+| --(columns|file) \S+/g, '')
    const isOther = / -q\b|--(file|to-sheet|print|dry-run|dir|format (?!oneroster))/.test(
      ` ${whole.replace(/\$\(.*\)/, '')}`,
    )
    const isOne = printing.has(path) && !(path in notRun) && !first.has(path)
    if (isOne && !isOther && !inProcesses.test(line) && !/^help (?!--json)/.test(line)) {
      // Statements are lines without a format.
      first.set(path, path === 'analytics statements' ? `${whole} -o json` : whole)
    }
  }
  const others = [
    ['courses list --deleted', 'courses list'],
    ['courses get ext:first-course --with-lessons', 'courses get'],
    ['courses update AAA-2013J AAA-2014J --language en', 'courses update'],
    ['courses diff -f marine-biology.yaml', 'courses diff'],
    ['users import users.csv --dry-run', 'users import'],
    ['apply academy.yaml --dry-run', 'apply'],
    ['roster apply school.zip --yes', 'roster apply'],
    ['integrations set moodle --generate-secret', 'integrations set'],
    ['dump', 'dump'],
    ['audit revert "$(learnctl audit list --noun course --limit 1 -q)" --dry-run', 'audit revert'],
  ] as const
  return [...new Map([...[...first].map(([path, line]) => [line, path] as const), ...others])]
}

/** Returns how a value differs from what a command prints; here objects have no undeclared fields. */
function faultsOf(value: unknown, printed: readonly string[]): readonly string[] {
  // All fields of an integration are declared elsewhere than its secret.
  const ajv = printed.includes('SetIntegration') ? open : strict
  const validate = ajv.compile(schemaOfPrinted(printed, 'results#/$defs/'))
  validate(value)
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`
  })
}

/** Returns a schema whose objects have no undeclared fields. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member)]))
  const isObject = 'properties' in schema && typeof schema.properties === 'object' && 'type' in schema
  return isObject && !('additionalProperties' in schema)
    ? { ...members, additionalProperties: false }
    : members
}
