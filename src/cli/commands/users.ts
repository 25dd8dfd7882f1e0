import { shellWord } from '../../codec/display-text.ts'
import { isJsonObject } from '../../codec/json-text.ts'
import type { Operation } from '../../contract/operation.ts'
import { valueAt } from '../../tables/column.ts'
import type { Command, Given } from '../command/command.ts'
import type { Question } from '../command/confirm.ts'
import type { Lookup } from '../command/lookup.ts'
import { targetFlags } from '../export/export-options.ts'
import { userFlags } from '../flags/learners.ts'
import { call } from '../operation/operation-command.ts'
import type { Find, Finding } from '../operation/operation-spec.ts'
import { thingName } from '../operation/thing-name.ts'
import { CommandError } from '../terminal/errors.ts'
import { exportCommand, oldestFirst } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommands } from './record-commands.ts'

const contract = async () => (await import('../../contract/calls.ts')).calls.users

const argument = { name: 'user', summary: 'User: id, external id or e-mail address' }
const columns = ['email', 'profile.firstName', 'profile.lastName', 'role', 'status', 'externalId', 'id']

const user = recordCommands({ operations: contract, argument, columns, ...userFlags })

/** Describes the deletion: a deleted user can be restored, an erased one cannot. */
async function deletionQuestion(
  _: Lookup,
  { arguments: { user = '' }, flags }: Given,
  found: unknown,
): Promise<Question> {
  const name = thingName(found, user)
  return flags['erase']
    ? {
        text: `Erase the personal data of user ${name}`,
        consequence: 'This cannot be undone.',
        typed: String(valueAt(found, 'email') ?? user),
      }
    : { text: `Delete user ${name}`, consequence: 'The user can be restored later.' }
}

export const commands: readonly Command[] = [
  user.list({
    examples: ['users list --role instructor,admin', 'users list --status active --all -o csv > users.csv'],
  }),
  user.get({ examples: ['users get ext:11391', 'users get email:admin@academy.local'] }),
  user.create({
    dataset: 'users',
    password: 'on request',
    examples: [
      'users create --email ada@example.org --first-name Ada --role instructor',
      'users create --email grace@example.org --password-stdin < password.txt',
      'users create --email ada@example.org --if-not-exists -q',
    ],
  }),
  user.update({
    examples: ['users update ext:11391 --role analyst', 'users update 11391 6516 --managed-by registry'],
  }),
  user.status('Suspended', 'suspended', {
    name: 'suspend',
    summary: 'Suspend users: they cannot sign in, and their keys are refused',
    examples: ['users suspend 11391', 'users list --role analyst -q | learnctl users suspend --ids -'],
  }),
  user.status('Activated', 'active', {
    name: 'activate',
    summary: 'Activate suspended users',
    examples: ['users activate 11391'],
  }),
  user.status('Restored', 'active', {
    name: 'restore',
    summary: 'Restore deleted users',
    finds: findDeletedUser,
    examples: ['users restore 11391'],
  }),
  call({
    name: 'set-password',
    summary: "Set a user's password and end their sessions and grants",
    description:
      'The password is read from standard input; on a terminal you are prompted for it twice, and it is not shown.\nAPI keys stay valid. On a local academy, this is also how to set the first password.',
    operation: async () => (await contract()).update,
    arguments: { userId: argument },
    password: 'always',
    columns,
    done: (answer, { arguments: { user } }) =>
      `Set the password of user ${thingName(answer, user)}; their sessions and grants have ended`,
    examples: ['users set-password email:admin@academy.local < password.txt'],
  }),
  user.delete({
    summary: 'Delete users (can be restored)',
    query: { erase: { kind: 'switch', summary: 'Erase the personal data for good (cannot be undone)' } },
    destroys: {
      action: ({ arguments: { user }, flags }) => `${flags['erase'] ? 'erase' : 'delete'} user ${user}`,
      question: deletionQuestion,
      several: async (_, { flags }) =>
        flags['erase']
          ? { consequence: 'Their personal data is erased. This cannot be undone.', irreversible: true }
          : { consequence: 'They can be restored later.' },
    },
    // The line of an erasure may be kept in a log, so it repeats the reference instead of the user's name.
    done: (found, { arguments: { user }, flags }) =>
      flags['erase']
        ? `Erased user ${user}; the personal data cannot be restored`
        : `Deleted user ${thingName(found, user)}; restore with: learnctl users restore ${shellWord(user ?? '')}`,
    examples: ['users delete ext:11391 --yes', 'users delete ext:11391 --erase --yes'],
  }),
  {
    name: 'export-data',
    summary: 'Export all stored data about a person as one JSON document',
    writes: [],
    prints: ['PersonalData'],
    description:
      'For requests of access and portability (GDPR Art. 15 and 20): profile, enrolments, progress and grades with their history, groups, keys\nand applications without secrets, ids in other systems, events of other systems, and the audit log by and about the person. The sections are\nin docs/concepts.md. Requires an admin. Check who asked before you hand it over.',
    arguments: [argument],
    refuses: {
      quiet: 'The result has no id',
      columns: 'The data is exported as a whole',
      limit: 'The data is exported as a whole',
    },
    flags: targetFlags.filter(({ name }) => name === 'file' || name === 'force'),
    examples: [
      'users export-data ext:11391 --file 11391.json',
      'users export-data ext:11391 | jq .enrollments',
    ],
    run: async (context, given) => {
      const { exportPersonalData } = await import('../export/list-export.ts')
      await exportPersonalData(context, given)
    },
  },
  call({
    name: 'me',
    summary: 'Show the signed-in user and the scopes of the credential',
    operation: async () => (await contract()).profile,
    columns: [...columns, 'scopes', 'authMethod'],
    examples: ['users me'],
  }),
  importCommand({ dataset: 'users', nouns: 'users', examples: ['users import users.csv'] }),
  exportCommand({
    dataset: 'users',
    people: true,
    query: oldestFirst(userFlags.filters),
    examples: ['users export --file all-users.csv', 'users export --role learner --file learners.jsonl.gz'],
  }),
]

/**
 * Finds a deleted user by id, external id or email address. A bare address matches only users who are not deleted.
 * Throws a CommandError for a user who is not deleted.
 */
async function findDeletedUser({ context, caller }: Finding): Promise<Find> {
  const { ApiError } = await import('../../client/errors.ts')
  const { signal } = context.io
  return async ({ arguments: { user = '' } }) => {
    const { users } = (await import('../../contract/calls.ts')).calls
    const address = user.startsWith('email:') ? user.slice(6) : user.includes('@') ? user : null
    const shown = (await byReference()) ?? (address === null ? null : await byAddress(address))
    if (shown === null) return user
    const { id, status } = shown
    if (status === 'deleted' || status === undefined) return String(id)
    const suspended =
      status === 'suspended' ? { hint: `To activate: learnctl users activate ${shellWord(user)}` } : {}
    throw new CommandError('not_deleted', 'conflict', `User ${thingName(shown, user)} is not deleted`, {
      why: [`The status is ${String(status)}`],
      ...suspended,
    })

    async function byReference() {
      try {
        const { data } = await caller.call(users.get, { params: { userId: user }, signal })
        const thing: unknown = data
        return isJsonObject(thing) && thing['id'] !== undefined ? thing : null
      } catch (error) {
        if (error instanceof ApiError && error.status === 404 && address !== null) return null
        throw error
      }
    }

    async function byAddress(email: string) {
      const operation: Operation = users.list
      const query = { email, status: 'deleted' }
      for await (const { data } of caller.pages(operation, { query, signal })) {
        const same = (each: unknown) => String(each).toLowerCase() === email.toLowerCase()
        const found = data.filter(isJsonObject).find((each) => same(each['email']))
        if (found) return found
      }
      return null
    }
  }
}
