# Converts the project's comments to Doxygen's: a comment at the start of a file is about the file, one after a member
# documents it.
1s|^// |/// \\file\n/// |
1,/^#pragma once/s|^//\( .*\)\{0,1\}$|///\1|
s|\([;,{}]\) *// |\1 ///< |
s|^\( *\)// |\1/// |
