/** Many clients write turns to the server CARDBOX_URL, which is killed meanwhile: TURNS turns each of the sessions of the arguments. */

import { CardBox } from "cardbox";

const project = new CardBox(process.env["CARDBOX_URL"]!, { tries: 30 }).project("p");
const turns = Number(process.env["TURNS"]);

async function write(name: string): Promise<void> {
    const session = project.session(name);
    await session.create({ dialect: "plain" });
    for (let turn = 0; turn < turns; turn++) {
        await session.append({ type: "user", content: `${name} ${turn}` });
        await project.session("shared").append({ type: "user", content: `${name} ${turn}` });
    }
}

await project.session("shared").create({ dialect: "plain" });
await Promise.all(process.argv.slice(2).map(write));
