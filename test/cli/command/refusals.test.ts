import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'

describe('a global flag that a command cannot honour', () => {
  test.for([
    ['server start --limit 5', '--limit', 'learnctl server start'],
    ['server openapi --quiet', '--quiet', 'learnctl server openapi'],
    ['courses create --title Sea --all', '--all', 'learnctl courses create'],
    ['auth login --database a.db', '--database', 'learnctl auth login'],
    ['doctor --dry-run', '--dry-run', 'learnctl doctor'],
  ])('is refused before anything is done: %s', async ([line = '', flag = '', command = ''], { local }) => {
    const { code, stdout, stderr } = await local.run(line, { env: { LEARNCTL_DATABASE: '' } })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^error: ${flag} is not supported by \`${command}\`\n  [A-Z].+\n$`))
  })

  test('is ignored where a variable or the project file gives it', { tags: ['slow'] }, async ({ local }) => {
    const env = { LEARNCTL_LIMIT: '3', LEARNCTL_ALL: '1', LEARNCTL_COLUMNS: 'title' }
    expect(await local.run('server openapi', { env })).toMatchObject({ code: 0, stderr: '' })
    expect(await local.run('courses create --title Sea', { env })).toMatchObject({ code: 0 })
  })
})
