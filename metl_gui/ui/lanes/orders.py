"""What a person may order a lane, by name."""

from __future__ import annotations

FREEZE, UNFREEZE, ROLL_BACK, SET_BACK = "freeze", "unfreeze", "roll_back", "set_back"
ORDERS = {
    FREEZE: "Freeze the state…",
    UNFREEZE: "Follow what is published…",
    ROLL_BACK: "Roll back…",
    SET_BACK: "Set offsets back…",
}
