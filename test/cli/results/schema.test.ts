import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { showsSchema } from '../../../src/cli/command/command.ts'
import { printedBy } from '../../../src/cli/help/describe-command.ts'
import { resultSchemas } from '../../../src/cli/results/output-schemas.ts'
import { testCli } from '../../helpers/cli.ts'
import { allCommands } from '../../helpers/host.ts'
import { differencesFrom } from '../../helpers/printed-schema.ts'

const schemas = await resultSchemas('#/$defs/')
const commands = await allCommands()
const withJson = commands.filter(([, command]) => showsSchema(command))

describe('--schema', () => {
  test('is offered by the commands that print JSON', async () => {
    const printing = []
    for (const [path, command] of commands) if ((await printedBy(command)).length > 0) printing.push(path)
    expect(withJson.map(([path]) => path)).toEqual(printing.filter((path) => path !== 'validate'))
  })

  test('needs no academy, no argument and no required flag', { tags: ['slow'] }, async () => {
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

  test('all schemas are JSON Schema of 2020-12, and lead somewhere', { tags: ['slow'] }, async () => {
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

  test('of help describes all commands as help --json prints them', { tags: ['slow'] }, async () => {
    const cli = testCli()
    const { stdout } = await cli.run('help --json')
    cli.remove()
    const document = JSON.parse(stdout)
    expect(differencesFrom(['Help'], document)).toEqual([])
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const outputs = document.commands.flatMap(({ output }: { output: object | null }) => output ?? [])
    ajv.compile({ anyOf: outputs, schemas: document.schemas })
  })
})
