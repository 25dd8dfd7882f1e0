import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../helpers/process.ts'

// GitHub's own parser knows all keys, permissions, events and the contexts of expressions (actions/languageservices).

// It imports JSON as only bundlers can.
const hooks = registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
})
const { NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser')
const { convertWorkflowTemplate } = await import('@actions/workflow-parser/model/convert')
hooks.deregister()

const folder = join(root, '.github/workflows')

async function problemsOf(name: string, content: string): Promise<readonly string[]> {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter())
  if (value) await convertWorkflowTemplate(context, value)
  return context.errors.getErrors().map(({ message }) => message)
}

test.for(readdirSync(folder))('GitHub reads the workflow %s', async (name) => {
  expect(await problemsOf(name, readFileSync(join(folder, name), 'utf8'))).toEqual([])
})

test('GitHub reads the workflows of the documentation', async () => {
  for (const page of ['docs/ci.md', 'docs/recipes.md']) {
    const text = readFileSync(join(root, page), 'utf8')
    const found = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].filter(([, yaml]) =>
      yaml?.includes('\njobs:'),
    )
    expect(found, page).not.toEqual([])
    for (const [, yaml = ''] of found) expect(await problemsOf(page, yaml)).toEqual([])
  }
})

test.for([
  ['packages: write', 'package: write', "Unexpected value 'package'"],
  ['needs: [npm, image]', 'needs: [npm, images]', "depends on unknown job 'images'"],
  ['github.token }}', 'githab.token }}', "Unrecognized named-value: 'githab'"],
] as const)('it refuses %s as %s', async ([right, wrong, message]) => {
  const text = readFileSync(join(folder, 'release.yml'), 'utf8')
  expect(await problemsOf('release.yml', text.replace(right, wrong))).toEqual([
    expect.stringContaining(message),
  ])
})
